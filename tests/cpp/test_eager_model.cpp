// The eager runtime in a C++ program: an interpreter is started on first use, and the law behaves as a compiled one.
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <Python.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/eager/load_model.h"
#include "matlaw/host/QuadratureBatch.h"

namespace
{
using namespace matlaw;

const std::string examples = MATLAW_EXAMPLES;

eager::Model elastic()
{
  return eager::load_model(examples + "/linear_elastic.i", "model");
}

eager::Model viscoplastic()
{
  return eager::load_model(examples + "/j2_viscoplastic.i", "model");
}

at::Tensor strains(std::int64_t rows)
{
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const auto row = at::arange(rows, options).unsqueeze(1);
  return 1e-3 * at::sin(1.3 * row + at::arange(6, options));
}

/// Inputs of the viscoplastic law: strain and time as given, everything old zero.
TensorMap first_step(const eager::Model & law, const at::Tensor & strain, double t)
{
  TensorMap inputs;
  for (std::size_t i = 0; i < law.input_names().size(); ++i)
  {
    std::vector<std::int64_t> shape{strain.size(0)};
    const auto & base = law.input_base_shapes()[i];
    shape.insert(shape.end(), base.begin(), base.end());
    inputs[law.input_names()[i]] = at::zeros(shape, strain.options());
  }
  inputs["strain"] = strain;
  inputs["t"] = at::full({strain.size(0)}, t, strain.options());
  return inputs;
}

template <typename Action>
std::string fatal_error(Action && action)
{
  try
  {
    action();
  }
  catch (const FatalError & e)
  {
    EXPECT_FALSE(e.recoverable());
    return e.what();
  }
  ADD_FAILURE() << "no FatalError was thrown";
  return "";
}

void expect_contains(const std::string & text, const std::string & part)
{
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(WithoutMatlaw, the_remedy_is_named)
{
  const std::string message = fatal_error([] { elastic(); });
  expect_contains(message, "cannot import matlaw");
  expect_contains(message, "PYTHONPATH");
}

TEST(WithOtherPython, both_versions_are_named)
{
  const std::string message = fatal_error([] { elastic(); });
  expect_contains(message, "holds Python 3.9.2");
  expect_contains(message,
                  "built for Python " + std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION));
  expect_contains(message, "link that libpython");
  EXPECT_FALSE(Py_IsInitialized()) << "an interpreter of another version was started";
}

TEST(EagerModel, leaves_the_interpreter_lock_free)
{
  const auto law = elastic();
  EXPECT_TRUE(Py_IsInitialized());
  EXPECT_FALSE(PyGILState_Check());
  law.forward({{"strain", strains(3)}});
  EXPECT_FALSE(PyGILState_Check());
}

TEST(EagerModel, works_for_a_caller_that_holds_the_lock)
{
  const auto law = elastic();
  const PyGILState_STATE state = PyGILState_Ensure();
  const auto outputs = law.forward({{"strain", strains(3)}});
  EXPECT_TRUE(PyGILState_Check());
  PyGILState_Release(state);
  EXPECT_EQ(outputs.at("stress").size(0), 3);
}

TEST(EagerModel, describes_its_boundary)
{
  const auto law = viscoplastic();
  EXPECT_EQ(law.name(), "model");
  ASSERT_EQ(law.input_names().size(), law.input_base_shapes().size());
  ASSERT_EQ(law.output_names().size(), law.output_base_shapes().size());
  EXPECT_EQ(law.input_names().size(), law.input_sub_batch_shapes().size());
  for (std::size_t i = 0; i < law.input_names().size(); ++i)
    if (law.input_names()[i] == "strain")
    {
      EXPECT_EQ(law.input_base_shapes()[i], std::vector<std::int64_t>{6});
      EXPECT_EQ(law.input_types()[i], "SR2");
    }
  EXPECT_EQ(law.device(), at::Device(at::kCPU));
  EXPECT_EQ(law.dtype(), at::kDouble);
  ASSERT_EQ(law.state_pairs().size(), 3U);
  for (const auto & pair : law.state_pairs())
  {
    EXPECT_EQ(pair.old, pair.current + "~1");
    EXPECT_EQ(pair.is_state, pair.current != "t");
    EXPECT_FALSE(pair.initial.empty());
  }
}

TEST(EagerModel, forward_jacobian_and_jvp_agree_with_hookes_law)
{
  const auto law = elastic();
  const auto strain = strains(5);
  const auto [outputs, blocks] = law.jacobian({{"strain", strain}});
  const auto stiffness = blocks.at("stress").at("strain").expand({5, 6, 6});
  const auto trace = strain.slice(1, 0, 3).sum(1, true);
  // sigma = 2 mu e + lambda tr(e) 1, the constants read off the shear and the mean component
  const auto two_mu = stiffness[0][5][5];
  const auto lambda = stiffness[0][0][1];
  const auto identity = at::tensor({1., 1., 1., 0., 0., 0.}, strain.options());
  EXPECT_TRUE(at::allclose(outputs.at("stress"), two_mu * strain + lambda * trace * identity, 1e-13, 0.0));
  EXPECT_TRUE(outputs.at("stress").is_contiguous());

  const auto tangent = strains(5).flip(0).contiguous();
  const auto [again, derivative] = law.jvp({{"strain", strain}}, {{"strain", tangent}});
  EXPECT_TRUE(at::equal(again.at("stress"), outputs.at("stress")));
  EXPECT_TRUE(at::allclose(derivative.at("stress"), law.forward({{"strain", tangent}}).at("stress"), 1e-12, 1e-12));
}

TEST(EagerModel, reports_rows_and_throws_with_them)
{
  const auto law = viscoplastic();
  auto strain = strains(8);
  strain[2] *= 1e8;
  strain[5] *= 1e8;
  const auto inputs = first_step(law, strain, 1e-3);
  const auto result = law.evaluate(inputs);
  EXPECT_EQ(result.failed_rows, (std::vector<std::int64_t>{2, 5}));
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status[2].item<int>(), int(Status::NOT_CONVERGED));
  EXPECT_EQ(result.status[3].item<int>(), int(Status::CONVERGED));
  EXPECT_TRUE(at::isnan(result.outputs.at("stress")[2]).all().item<bool>());
  EXPECT_TRUE(at::isfinite(result.outputs.at("stress")[3]).all().item<bool>());
  EXPECT_LT(result.dt_factor[2].item<double>(), 1.0);

  // Thrown in C++ from the verdict, and in Python from where it comes back.
  for (const bool directional : {false, true})
    try
    {
      if (directional)
        law.jvp(inputs, {{"strain", strain}});
      else
        law.forward(inputs);
      ADD_FAILURE() << "no ConvergenceError was thrown";
    }
    catch (const Exception & e)
    {
      EXPECT_TRUE(e.recoverable());
      const auto * convergence = dynamic_cast<const ConvergenceError *>(&e);
      ASSERT_NE(convergence, nullptr) << e.what();
      EXPECT_EQ(convergence->failed_rows(), (std::vector<std::int64_t>{2, 5}));
    }
}

TEST(EagerModel, a_bad_input_is_named)
{
  const auto law = elastic();
  auto strain = strains(4);
  strain[1][3] = std::numeric_limits<double>::quiet_NaN();
  const auto check = [&](const auto & call)
  {
    try
    {
      call();
      ADD_FAILURE() << "no InputError was thrown";
    }
    catch (const InputError & e)
    {
      EXPECT_EQ(e.variable(), "strain");
      EXPECT_EQ(e.row(), 1);
      EXPECT_FALSE(e.recoverable());
    }
  };
  check([&] { law.forward({{"strain", strain}}); });
  check([&] { law.jvp({{"strain", strain}}, {{"strain", strains(4)}}); });
}

TEST(EagerModel, wrong_calls_and_files_are_fatal_errors)
{
  expect_contains(fatal_error([] { eager::load_model(examples + "/nowhere.i", "model"); }), "nowhere.i");
  expect_contains(fatal_error([] { eager::load_model(examples + "/linear_elastic.i", "modle"); }), "modle");
  const auto law = elastic();
  expect_contains(fatal_error([&] { law.forward({}); }), "strain");
  expect_contains(fatal_error([&] { law.forward({{"strain", at::zeros({4, 1}, at::kDouble)}}); }), "strain");
  expect_contains(fatal_error([&] { law.forward({{"strain", at::zeros({4, 6}, at::kFloat)}}); }), "float32");
  expect_contains(fatal_error([&] { law.forward({{"strain", strains(2)}, {"starin", strains(2)}}); }), "starin");
}

TEST(EagerModel, parameters_can_be_read_and_replaced)
{
  auto law = elastic();
  ASSERT_FALSE(law.named_parameters().empty());
  const std::string name = law.named_parameters().begin()->first;
  const auto before = law.forward({{"strain", strains(3)}}).at("stress");
  law.set_parameter(name, 2.0 * law.named_parameters().at(name));
  EXPECT_FALSE(at::allclose(law.forward({{"strain", strains(3)}}).at("stress"), before));
  expect_contains(fatal_error([&] { law.set_parameter("nothing.E", at::ones({}, at::kDouble)); }), "nothing.E");

  const auto blocks = law.param_jacobian({{"strain", strains(3)}});
  EXPECT_EQ(blocks.at("stress").at(name).sizes(), (at::IntArrayRef{3, 6}));
  const auto seed = at::ones({3, 6}, at::kDouble);
  const auto gradient = law.param_vjp({{"strain", strains(3)}}, {{"stress", seed}}).at(name);
  EXPECT_NEAR(gradient.item<double>(), blocks.at("stress").at(name).sum().item<double>(), 1e-12);
}

TEST(EagerModel, threads_take_turns)
{
  const auto law = viscoplastic();
  const auto inputs = first_step(law, strains(6), 0.1);
  const auto expected = law.forward(inputs).at("stress");
  std::vector<int> equal(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < equal.size(); ++i)
    threads.emplace_back(
        [&, i]
        {
          for (int repeat = 0; repeat < 3; ++repeat)
            equal[i] += at::equal(law.forward(inputs).at("stress"), expected);
        });
  for (auto & thread : threads)
    thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 3));
}

TEST(EagerModel, can_be_moved)
{
  auto first = elastic();
  eager::Model second(std::move(first));
  first = std::move(second);
  EXPECT_EQ(first.forward({{"strain", strains(2)}}).at("stress").size(0), 2);
}

TEST(EagerModel, extensions_add_model_types)
{
  const auto folder = std::filesystem::temp_directory_path() / ("matlaw_extension_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "doubling.py") << "from matlaw.models import Input, Leaf, Output, register\n"
                                           "from matlaw.tensors import Scalar\n"
                                           "@register('DoublingForTest')\n"
                                           "class DoublingForTest(Leaf):\n"
                                           "    a = Input(Scalar, doc='the number')\n"
                                           "    b = Output(Scalar, doc='twice the number')\n"
                                           "    def forward(self, a):\n"
                                           "        return 2.0 * a\n";
  const auto input = (folder / "law.i").string();
  std::ofstream(input) << "[Models]\n  [model]\n    type = DoublingForTest\n  []\n[]\n";
  expect_contains(fatal_error([&] { eager::load_model(input, "model"); }), "DoublingForTest");
  const auto law = eager::load_model(input, "model", {(folder / "doubling.py").string()});
  EXPECT_EQ(law.forward({{"a", at::full({3}, 1.5, at::kDouble)}}).at("b")[1].item<double>(), 3.0);
  EXPECT_NO_THROW(eager::load_model(input, "model")) << "a type stays registered";
  std::filesystem::remove_all(folder);
}

TEST(EagerModel, feeds_a_quadrature_batch)
{
  const auto law = std::make_shared<eager::Model>(viscoplastic());
  host::QuadratureBatch batch(law, 4);
  const auto strain = strains(4) * 2;
  batch.set_input("strain", strain.const_data_ptr<double>());
  batch.set_input("t", 0.5);
  const auto & verdict = batch.evaluate(true);
  ASSERT_TRUE(verdict.ok());
  const auto expected = law->forward(first_step(*law, strain, 0.5));
  const auto stress = at::from_blob(const_cast<double *>(batch.output("stress")), {4, 6}, at::kDouble);
  EXPECT_TRUE(at::equal(stress, expected.at("stress")));
  batch.commit();
  const auto old = at::from_blob(const_cast<double *>(batch.state("plastic_strain~1")), {4, 6}, at::kDouble);
  EXPECT_TRUE(at::equal(old, expected.at("plastic_strain")));
  EXPECT_GT(old.abs().max().item<double>(), 0.0);
}
}
