// A host that is parallel itself, with OpenMP: calls from its parallel regions, its settings unchanged afterwards.
#include <atomic>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <omp.h>

#include "matlaw/dispatch/DispatchedModel.h"
#include "matlaw/dispatch/SimpleScheduler.h"
#include "shared_artifacts.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;

namespace
{
/// What a host can set.
std::vector<int> settings()
{
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  return {omp_get_max_threads(), omp_get_dynamic(), omp_get_max_active_levels(), int(kind), chunk,
          omp_get_thread_limit()};
}

/// Calls `model` from all threads of a parallel region; how many calls gave the expected bits.
int calls_in_a_region(const Model & model, const TensorMap & inputs, const at::Tensor & expected, int threads)
{
  std::atomic<int> equal{0};
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < 4 * threads; i++)
    equal += same_bits(model.evaluate(inputs, {.jacobian = true}).outputs.at("stress"), expected);
  return equal;
}
}

TEST(OpenMPHost, calls_in_a_parallel_region_leave_its_settings_alone)
{
  omp_set_num_threads(3);
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  omp_set_schedule(omp_sched_guided, 5);
  const auto before = settings();
  const ToyLaw law;
  const auto reference = law.load({.threads = 1}); // this thread's first use of torch
  EXPECT_EQ(settings(), before) << "loading";
  const auto inputs = toy_inputs(3000);
  const auto expected = reference->forward(inputs).at("stress");
  EXPECT_EQ(settings(), before) << "a call outside of a region";
  for (const std::int64_t threads : {0, 1, 2, 4})
  {
    const auto model = law.load({.threads = threads, .max_chunk_rows = 64});
    EXPECT_EQ(calls_in_a_region(*model, inputs, expected, 3), 12);
    EXPECT_EQ(settings(), before) << threads << " threads of a call";
    EXPECT_TRUE(same_bits(model->forward(inputs).at("stress"), expected)) << "after the region";
  }
  const auto dispatched =
      dispatch::load_model(law.stub().string(), "toy", std::make_shared<dispatch::SimpleScheduler>(at::kCPU, 200));
  EXPECT_EQ(calls_in_a_region(*dispatched, inputs, expected, 3), 12);
  EXPECT_EQ(settings(), before);
}

TEST(OpenMPHost, packages_may_be_called_in_a_region_too)
{
  const auto stub = shared_stub("linear_elastic-both");
  if (stub.empty())
    GTEST_SKIP() << no_artifacts;
  omp_set_num_threads(3);
  const auto before = settings();
  const TensorMap inputs{{"strain", 1e-3 * at::sin(at::arange(18000, at::kDouble)).reshape({3000, 6})}};
  const auto load = [&](std::int64_t threads)
  { return load_model(stub, "model", {.backend = Backend::INDUCTOR, .threads = threads, .runtime = Runtime::AOTI}); };
  const auto expected = load(1)->forward(inputs).at("stress");
  for (const std::int64_t threads : {0, 1, 2})
  {
    const auto model = load(threads);
    std::atomic<int> right{0};
#pragma omp parallel for num_threads(3) schedule(static, 1)
    for (int i = 0; i < 12; i++)
      right += at::allclose(model->evaluate(inputs, {.jacobian = true}).outputs.at("stress"), expected, 1e-13, 1e-13);
    EXPECT_EQ(right, 12);
    EXPECT_EQ(settings(), before) << threads << " threads of a call";
  }
}

TEST(OpenMPHost, a_region_after_a_call_has_the_threads_it_asks_for)
{
  const ToyLaw law;
  const auto model = law.load({.threads = 2, .max_chunk_rows = 64});
  model->forward(toy_inputs(3000));
  int threads = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  threads = omp_get_num_threads();
  EXPECT_EQ(threads, 3);
}
