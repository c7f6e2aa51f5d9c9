// Plugins as a host in C++ meets them: exceptions, set-up errors, copies side by side, threads. What the arrays mean is
// tested in tests/python/umat.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace fs = std::filesystem;

namespace
{
using Umat = void (*)(double *, double *, double *, double *, double *, double *, double *, double *, double *,
                      double *, double *, double *, double *, double *, double *, double *, double *, double *, char *,
                      int *, int *, int *, int *, double *, int *, double *, double *, double *, double *, double *,
                      double *, int *, int *, int *, int *, int *, int *);

/// A point of a host, 3-D.
struct Point
{
  std::array<double, 6> stress{}, strain{}, increment{};
  std::array<double, 7> state{};
  std::array<double, 36> tangent{};
  double dt = 1.0, factor = 1.0;
  int n_state = 7;

  void call(Umat umat)
  {
    double nothing[16] = {}, time[2] = {}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    char name[80] = {};
    int three = 3, six = 6, one = 1;
    umat(stress.data(), state.data(), tangent.data(), nothing, nothing, nothing, nothing, nothing, nothing, nothing,
         strain.data(), increment.data(), time, &dt, nothing, nothing, nothing, nothing, name, &three, &three, &six,
         &n_state, nothing, &one, nothing, identity, &factor, nothing, identity, identity, &one, &one, &one, &one, &one,
         &one);
  }
};

class UmatPlugin : public ::testing::Test
{
protected:
  void SetUp() override
  {
    const char * artifacts = std::getenv("MATLAW_TEST_ARTIFACTS");
    if (!artifacts || !fs::exists(fs::path(artifacts) / "j2_viscoplastic-native"))
      GTEST_SKIP() << "MATLAW_TEST_ARTIFACTS names no folder with j2_viscoplastic-native (tests/artifacts.py)";
    _law = fs::path(artifacts) / "j2_viscoplastic-native" / "model";
    _folder = fs::temp_directory_path() / ("matlaw-umat-" + std::to_string(::getpid()));
    fs::create_directories(_folder);
  }
  void TearDown() override
  {
    if (!_folder.empty())
      fs::remove_all(_folder);
  }

  /// A copy of the plugin with settings of its own.
  Umat plugin(const std::string & name, const std::string & settings = "", bool write = true)
  {
    const auto file = _folder / (name + "-opt.plugin");
    fs::copy_file(MATLAW_UMAT_PLUGIN, file);
    if (write)
      std::ofstream(_folder / (name + ".umat.i"))
          << "[Umat]\n  law = '" << _law.string() << "'\n  library = '" << MATLAW_UMAT_LIBRARY << "'\n"
          << settings << R"(
  [inputs]
    strain = 'strain'
    t = 'time'
    t~1 = 'old_time'
    plastic_strain~1 = 'statev 1 rotated'
    equivalent_plastic_strain~1 = 'statev 7'
  []
  [outputs]
    stress = 'stress'
    plastic_strain = 'statev 1'
    equivalent_plastic_strain = 'statev 7'
  []
[]
)";
    void * handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(handle) << dlerror();
    return reinterpret_cast<Umat>(dlsym(handle, "umat_"));
  }

  fs::path _folder, _law;
};

TEST_F(UmatPlugin, a_point_that_fails_throws_or_changes_pnewdt)
{
  Point p;
  p.increment[0] = 5e-2; // more than the law can follow in so short a time
  p.dt = 1e-3;
  p.stress.fill(3.0);
  const auto before = p.stress;
  try
  {
    p.call(plugin("throws"));
    FAIL() << "nothing was thrown";
  }
  catch (const std::runtime_error & e)
  {
    EXPECT_NE(std::string(e.what()).find("did not converge at element 1, integration point 1"), std::string::npos)
        << e.what();
  }
  EXPECT_EQ(p.stress, before);
  p.factor = 1.0;
  p.call(plugin("pnewdt", "on_failure = 'pnewdt'"));
  EXPECT_LT(p.factor, 1.0);
  EXPECT_GT(p.factor, 0.0);
  EXPECT_EQ(p.stress, before);
}

TEST_F(UmatPlugin, copies_have_settings_of_their_own)
{
  const auto rows = plugin("rows"), columns = plugin("columns", "ddsdde = 'columns'");
  EXPECT_NE(rows, columns);
  Point a, b;
  a.increment = b.increment = {3e-3, 0, 0, 5e-4, 0, 0};
  a.call(rows);
  b.call(columns);
  EXPECT_EQ(a.stress, b.stress);
  EXPECT_GT(a.state[6], 0.0);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      EXPECT_EQ(a.tangent[6 * i + j], b.tangent[6 * j + i]);
}

TEST_F(UmatPlugin, threads_meet_at_the_first_call)
{
  const auto umat = plugin("threads");
  std::vector<Point> points(8);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < points.size(); k++)
    threads.emplace_back(
        [&, k]
        {
          for (int step = 0; step < 50; step++)
          {
            points[k].increment = {1e-4, -3e-5, -3e-5, 5e-5, 0, 0};
            points[k].call(umat);
            for (int i = 0; i < 6; i++)
              points[k].strain[i] += points[k].increment[i];
          }
        });
  for (auto & thread : threads)
    thread.join();
  for (const auto & point : points)
  {
    EXPECT_EQ(point.stress, points[0].stress);
    EXPECT_EQ(point.state, points[0].state);
  }
  EXPECT_GT(points[0].state[6], 0.0);
}

using UmatPluginDeathTest = UmatPlugin;

TEST_F(UmatPluginDeathTest, mistakes_in_the_set_up_end_the_process)
{
  EXPECT_EXIT(
      {
        Point p;
        p.n_state = 6;
        p.call(plugin("short"));
      },
      ::testing::ExitedWithCode(1), "needs 7");
  EXPECT_EXIT(
      {
        Point p;
        p.call(plugin("alone", "", false));
      },
      ::testing::ExitedWithCode(1), "alone.umat.i cannot be read");
}
}
