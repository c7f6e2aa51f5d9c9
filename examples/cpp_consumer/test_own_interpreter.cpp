// A program that runs Python for purposes of its own: the eager runtime uses that interpreter and leaves it as it was.
#include <Python.h>

#include <gtest/gtest.h>

#include <matlaw/eager/load_model.h>

#include "first_step.h"

TEST(OwnInterpreter, is_shared)
{
  ASSERT_EQ(PyRun_SimpleString("mine = 42"), 0);
  {
    const auto law = matlaw::eager::load_model(LAW, "model");
    EXPECT_GT(law.forward(first_step(law, 5)).at("stress").abs().max().item<double>(), 0.0);
  }
  EXPECT_TRUE(PyGILState_Check()) << "this thread still holds the interpreter";
  EXPECT_EQ(PyRun_SimpleString("assert mine == 42"), 0);
}

int main(int argc, char ** argv)
{
  ::testing::InitGoogleTest(&argc, argv);
  Py_Initialize();
  // torch cannot be unloaded, so the interpreter is left running.
  return RUN_ALL_TESTS();
}
