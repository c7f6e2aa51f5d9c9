// A law on several CPU workers gives what one copy of it gives; failures are gathered and leave the workers ready.
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/Failure.h"
#include "matlaw/dispatch/DispatchedModel.h"
#include "matlaw/dispatch/SimpleScheduler.h"
#include "matlaw/dispatch/StaticHybridScheduler.h"
#include "matlaw/dispatch/device_of_rank.h"
#include "matlaw/host/QuadratureBatch.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::dispatch;
using namespace matlaw::toy;

namespace
{
std::shared_ptr<const Scheduler> workers(std::size_t n, std::int64_t chunk_rows)
{
  return std::make_shared<StaticHybridScheduler>(std::vector<DeviceConfig>(n, {.chunk_rows = chunk_rows}),
                                                 CpuDevices::SEVERAL);
}

double difference(const at::Tensor & a, const at::Tensor & b)
{
  if (a.sizes() != b.sizes())
    return std::numeric_limits<double>::infinity();
  return a.numel() ? (a - b).abs().max().item<double>() : 0.0;
}

void expect_same(const Evaluation & a, const Evaluation & b)
{
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (const auto & [name, value] : b.outputs)
    EXPECT_TRUE(same_bits(a.outputs.at(name), value)) << name;
  ASSERT_EQ(a.jacobian.size(), b.jacobian.size());
  for (const auto & [output, row] : b.jacobian)
    for (const auto & [input, block] : row)
      EXPECT_TRUE(same_bits(a.jacobian.at(output).at(input), block)) << output << ":" << input;
  EXPECT_TRUE(same_bits(a.status, b.status));
  EXPECT_TRUE(same_bits(a.iterations, b.iterations));
  EXPECT_TRUE(same_bits(a.dt_factor, b.dt_factor));
  EXPECT_TRUE(same_bits(a.residual, b.residual));
  EXPECT_EQ(a.failed_rows, b.failed_rows);
}

class Dispatch : public ::testing::Test
{
protected:
  std::unique_ptr<DispatchedModel> dispatched(std::shared_ptr<const Scheduler> scheduler) const
  {
    return dispatch::load_model(law.stub().string(), "toy", std::move(scheduler));
  }

  const ToyLaw law;
};
}

TEST_F(Dispatch, gives_the_bits_of_one_copy)
{
  const auto one = law.load();
  for (const std::size_t n : {1, 2, 3})
    for (const std::int64_t chunk : {1, 7, 64})
    {
      const auto model = dispatched(workers(n, chunk));
      for (const std::int64_t rows : {0, 1, 6, 7, 8, 200})
      {
        SCOPED_TRACE(std::to_string(n) + " workers, chunks of " + std::to_string(chunk) + ", rows " +
                     std::to_string(rows));
        expect_same(model->evaluate(toy_inputs(rows), {.jacobian = true}),
                    one->evaluate(toy_inputs(rows), {.jacobian = true}));
      }
    }
}

TEST_F(Dispatch, batch_shapes_and_broadcasting)
{
  const auto one = law.load();
  const auto model = dispatched(workers(2, 5));
  const auto all = toy_inputs(24);
  const auto check = [&](const TensorMap & inputs)
  { expect_same(model->evaluate(inputs, {.jacobian = true}), one->evaluate(inputs, {.jacobian = true})); };
  check({{"strain", all.at("strain").reshape({2, 3, 4, 6})},
         {"s", all.at("s").reshape({2, 3, 4})},
         {"x~1", all.at("x~1").reshape({2, 3, 4})}});
  check({{"strain", all.at("strain")[0]}, {"s", all.at("s")}, {"x~1", all.at("x~1")[0]}});
  check({{"strain", all.at("strain").slice(0, 0, 3).unsqueeze(1)},
         {"s", all.at("s").slice(0, 0, 4)},
         {"x~1", all.at("x~1")[0]}});
  check({{"strain", all.at("strain")[0]}, {"s", all.at("s")[0]}, {"x~1", all.at("x~1")[0]}});
  check({{"strain", all.at("strain").slice(0, 0, 1)}, {"s", all.at("s")[0]}, {"x~1", all.at("x~1")[0]}});
}

TEST_F(Dispatch, describes_the_law)
{
  const auto one = law.load();
  const auto model = dispatched(workers(2, 5));
  EXPECT_EQ(model->name(), one->name());
  EXPECT_EQ(model->input_names(), one->input_names());
  EXPECT_EQ(model->output_names(), one->output_names());
  EXPECT_EQ(model->input_base_shapes(), one->input_base_shapes());
  EXPECT_EQ(model->output_base_shapes(), one->output_base_shapes());
  EXPECT_EQ(model->input_sub_batch_shapes(), one->input_sub_batch_shapes());
  EXPECT_EQ(model->output_sub_batch_shapes(), one->output_sub_batch_shapes());
  EXPECT_EQ(model->input_types(), one->input_types());
  EXPECT_EQ(model->output_types(), one->output_types());
  EXPECT_EQ(model->dtype(), one->dtype());
  EXPECT_EQ(model->device(), at::Device(at::kCPU));
  EXPECT_EQ(model->derivative_pairs().size(), one->derivative_pairs().size());
  EXPECT_EQ(model->state_pairs().size(), one->state_pairs().size());
  EXPECT_EQ(model->scheduler().devices().size(), 2u);
  EXPECT_NE(&model->copy(0), &model->copy(1));
}

TEST_F(Dispatch, directional_derivatives)
{
  const auto one = law.load();
  const auto model = dispatched(workers(3, 7));
  const auto inputs = toy_inputs(40);
  for (const auto & tangent : {at::ones({40, 6}, at::kDouble), at::ones({6}, at::kDouble)})
  {
    const auto [outputs, along] = model->jvp(inputs, {{"strain", tangent}});
    const auto [expected, expected_along] = one->jvp(inputs, {{"strain", tangent}});
    EXPECT_TRUE(same_bits(outputs.at("stress"), expected.at("stress")));
    ASSERT_EQ(along.size(), expected_along.size());
    for (const auto & [name, value] : expected_along)
      EXPECT_LT(difference(along.at(name), value), 1e-12) << name;
  }
}

TEST_F(Dispatch, a_block_that_all_rows_share_has_no_batch)
{
  law.edit(
      [](auto & metadata)
      {
        metadata["outputs"].push_back(metadata["variables"]["trial"]);
        metadata["derivatives"].push_back({{"output", "trial"}, {"input", "strain"}, {"batch_independent", true}});
      });
  const auto one = law.load();
  const auto model = dispatched(workers(2, 8));
  for (const std::int64_t rows : {0, 1, 20})
  {
    const auto result = model->evaluate(toy_inputs(rows), {.jacobian = true});
    EXPECT_EQ(result.jacobian.at("trial").at("strain").sizes(), (at::IntArrayRef{6, 6}));
    expect_same(result, one->evaluate(toy_inputs(rows), {.jacobian = true}));
  }
}

TEST_F(Dispatch, rows_that_fail_are_those_of_the_whole_batch)
{
  const auto one = law.load();
  const auto model = dispatched(workers(2, 8));
  auto inputs = toy_inputs(50);
  inputs["s"] = inputs.at("s").clone();
  for (const auto row : {3, 20, 49})
    inputs["s"][row] = -100.0;
  inputs["s"][31] = std::numeric_limits<double>::quiet_NaN();
  expect_same(model->evaluate(inputs, {.jacobian = true}), one->evaluate(inputs, {.jacobian = true}));
  EXPECT_THROW(model->forward(inputs), InputError);
  inputs["s"][31] = 1.0;
  try
  {
    model->jacobian(inputs);
    FAIL() << "nothing was thrown";
  }
  catch (const ConvergenceError & e)
  {
    EXPECT_EQ(e.failed_rows(), (std::vector<std::int64_t>{3, 20, 49}));
  }
}

TEST_F(Dispatch, tells_why_rows_failed_as_one_law_does)
{
  const auto one = law.load();
  const auto model = dispatched(workers(2, 4));
  EXPECT_EQ(model->last_failure(), nullptr);
  auto inputs = toy_inputs(70);
  inputs["s"] = inputs.at("s").clone();
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 3; row < 70; row += 3)
    rows.push_back(row);
  for (const auto row : rows)
    inputs["s"][row] = -100.0 - double(row);
  const auto whole = one->evaluate(inputs, {.history = true}), parts = model->evaluate(inputs, {.history = true});
  ASSERT_EQ(parts.history.size(), whole.history.size());
  EXPECT_EQ(parts.history[0].unknowns, whole.history[0].unknowns);
  EXPECT_TRUE(at::equal(parts.history[0].residual.nan_to_num(-1.0), whole.history[0].residual.nan_to_num(-1.0)));
  EXPECT_TRUE(at::equal(parts.history[0].step.nan_to_num(-1.0), whole.history[0].step.nan_to_num(-1.0)));
  EXPECT_TRUE(same_bits(parts.reason, whole.reason));
  EXPECT_TRUE(same_bits(parts.place, whole.place));

  const auto tells_the_same = [&](const Failure & found)
  {
    const auto expected = one->last_failure();
    EXPECT_EQ(found.n_rows, 70);
    EXPECT_EQ(found.failed_rows, rows);
    ASSERT_EQ(found.rows.size(), expected->rows.size());
    for (std::size_t i = 0; i < found.rows.size(); i++)
    {
      EXPECT_EQ(found.rows[i].row, expected->rows[i].row);
      EXPECT_EQ(found.rows[i].text, expected->rows[i].text);
      EXPECT_EQ(found.rows[i].residuals, expected->rows[i].residuals);
    }
    for (const auto & [name, value] : expected->inputs)
      EXPECT_TRUE(same_bits(found.inputs.at(name), value)) << name;
    for (const auto & [name, value] : expected->parameters)
      EXPECT_TRUE(same_bits(found.parameters.at(name), value)) << name;
    EXPECT_EQ(found.typical, expected->typical);
    EXPECT_EQ(found.message(), expected->message());
  };
  tells_the_same(*model->last_failure());
  try
  {
    model->forward(inputs);
    FAIL() << "nothing was thrown";
  }
  catch (const ConvergenceError & e)
  {
    EXPECT_EQ(std::string(e.what()), one->last_failure()->message());
  }
  // What copies throw themselves, and a parameter that every row has its own value of.
  for (Model * each : {static_cast<Model *>(one.get()), static_cast<Model *>(model.get())})
  {
    each->set_parameter("gain", at::linspace(1.0, 2.0, 70, at::kDouble));
    EXPECT_ANY_THROW(each->jvp(inputs, {{"strain", inputs.at("strain")}}));
  }
  tells_the_same(*model->last_failure());
  const auto earlier = model->last_failure();
  model->forward(toy_inputs(70));
  EXPECT_EQ(model->last_failure(), earlier);
}

TEST_F(Dispatch, errors_of_chunks_are_gathered)
{
  const auto model = dispatched(workers(2, 8));
  const TensorMap tangents{{"strain", at::ones({6}, at::kDouble)}};
  auto inputs = toy_inputs(50);
  const auto expected = model->jvp(inputs, tangents).second.at("stress");
  inputs["s"] = inputs.at("s").clone();
  for (const auto row : {3, 20, 21, 49})
    inputs["s"][row] = -100.0;
  try
  {
    model->jvp(inputs, tangents);
    FAIL() << "nothing was thrown";
  }
  catch (const AggregateError & e)
  {
    EXPECT_TRUE(e.recoverable());
    EXPECT_EQ(e.failed_rows(), (std::vector<std::int64_t>{3, 20, 21, 49})) << "no chunk was left out";
    ASSERT_EQ(e.failures().size(), 3u);
    EXPECT_EQ(e.failures()[1].first_row, 16);
    EXPECT_EQ(e.failures()[1].rows, 8);
    EXPECT_PRED_FORMAT2(mentions, e.what(), (Words{"'toy'", "3 chunks", "rows 16 to 23", "did not converge"}));
  }
  // One error that is not recoverable is enough.
  inputs["s"][40] = std::numeric_limits<double>::infinity();
  try
  {
    model->jvp(inputs, tangents);
    FAIL() << "nothing was thrown";
  }
  catch (const Exception & e)
  {
    EXPECT_FALSE(e.recoverable());
    EXPECT_PRED_FORMAT2(mentions, e.what(), (Words{"'s'", "rows 40 to 47"}));
  }
  EXPECT_TRUE(same_bits(model->jvp(toy_inputs(50), tangents).second.at("stress"), expected));
}

TEST_F(Dispatch, wrong_calls_are_fatal_before_anything_runs)
{
  const auto model = dispatched(workers(2, 8));
  const auto with = [&](const std::string & name, const at::Tensor & value)
  {
    auto inputs = toy_inputs(20);
    inputs[name] = value;
    return fatal_error([&] { model->evaluate(inputs); });
  };
  EXPECT_PRED_FORMAT2(mentions, with("strian", at::zeros({20, 6}, at::kDouble)), (Words{"'strian'", "'strain'"}));
  EXPECT_PRED_FORMAT2(mentions, with("strain", at::zeros({20, 5}, at::kDouble)), (Words{"'strain'", "(*B, 6)"}));
  EXPECT_PRED_FORMAT2(mentions, with("strain", at::zeros({19, 6}, at::kDouble)), (Words{"'strain'", "broadcast"}));
  EXPECT_PRED_FORMAT2(mentions, with("s", at::ones({20, 1}, at::kDouble)), (Words{"'s'", "(20, 1)", "400 rows"}));
  EXPECT_PRED_FORMAT2(mentions, with("strain", at::zeros({20, 6}, at::kFloat)), (Words{"'strain'", "Float"}));
  EXPECT_PRED_FORMAT2(mentions, with("strain", at::Tensor()), (Words{"'strain'", "undefined"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->evaluate({}); }), (Words{"'strain'"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->jvp(toy_inputs(2), {{"e", at::ones({})}}); }), (Words{"'e'"}));
}

TEST_F(Dispatch, parameters_reach_every_copy)
{
  law.promote_gain_everywhere();
  const auto one = law.load();
  const auto model = dispatched(workers(3, 7));
  const auto inputs = toy_inputs(40);
  const TensorMap cotangents{{"stress", at::cos(at::arange(240, at::kDouble)).reshape({40, 6})},
                             {"x", at::ones({}, at::kDouble)}};
  const auto values = {at::scalar_tensor(1.5, at::kDouble), at::linspace(1.0, 2.0, 40, at::kDouble),
                       at::full({1}, 1.25, at::kDouble), at::scalar_tensor(0.75, at::kDouble)};
  for (const auto & gain : values)
  {
    SCOPED_TRACE(gain.dim() ? "batch of " + std::to_string(gain.size(0)) : "no batch");
    for (auto * each : std::initializer_list<Model *>{one.get(), model.get()})
      each->set_parameter("gain", gain);
    EXPECT_TRUE(same_bits(model->named_parameters().at("gain"), gain));
    expect_same(model->evaluate(inputs, {.jacobian = true}), one->evaluate(inputs, {.jacobian = true}));
    const auto blocks = model->param_jacobian(inputs);
    for (const auto & [output, row] : one->param_jacobian(inputs))
      EXPECT_TRUE(same_bits(blocks.at(output).at("gain"), row.at("gain"))) << output;
    const auto gradient = model->param_vjp(inputs, cotangents).at("gain");
    const auto expected = one->param_vjp(inputs, cotangents).at("gain");
    EXPECT_LT(difference(gradient, expected), 1e-10 * expected.abs().max().item<double>());
  }
  const auto before = model->forward(inputs).at("stress");
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->set_parameter("gian", values.begin()[0]); }),
                      (Words{"'gain'"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->set_parameter("gain", at::ones({}, at::kFloat)); }),
                      (Words{"Float"}));
  auto bad = at::ones({40}, at::kDouble);
  bad[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(model->set_parameter("gain", bad), InputError);
  EXPECT_TRUE(same_bits(model->forward(inputs).at("stress"), before));
  model->set_parameter("gain", at::ones({3}, at::kDouble));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->forward(inputs); }), (Words{"'gain'", "broadcast"}));
}

TEST_F(Dispatch, solver_settings_reach_every_copy)
{
  const auto model = dispatched(workers(2, 4));
  auto config = model->solver_config();
  config.miters = 1;
  model->set_solver_config(config);
  EXPECT_EQ(model->evaluate(toy_inputs(16)).failed_rows.size(), 16u);
  config.atol = -1.0;
  EXPECT_THROW(model->set_solver_config(config), FatalError);
}

TEST_F(Dispatch, threads_share_the_devices)
{
  const auto one = law.load();
  const auto model = dispatched(workers(2, 8));
  std::atomic<int> equal{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back(
        [&, t]
        {
          const auto inputs = toy_inputs(30 + t);
          const auto expected = one->forward(inputs).at("stress");
          for (int repeat = 0; repeat < 20; repeat++)
            equal += same_bits(model->forward(inputs).at("stress"), expected);
        });
  for (auto & thread : threads)
    thread.join();
  EXPECT_EQ(equal, 80);
}

TEST_F(Dispatch, feeds_a_quadrature_batch)
{
  const std::shared_ptr<Model> model = dispatched(workers(2, 8));
  host::QuadratureBatch points(model, 30);
  const auto inputs = toy_inputs(30);
  points.set_input("strain", inputs.at("strain").const_data_ptr<double>());
  points.set_input("s", inputs.at("s").const_data_ptr<double>());
  ASSERT_TRUE(points.evaluate(true).ok());
  const auto stress = at::from_blob(const_cast<double *>(points.output("stress")), {30, 6}, at::kDouble);
  EXPECT_EQ(stress.size(0), 30);
  EXPECT_TRUE(at::isfinite(stress).all().item<bool>());
}

TEST_F(Dispatch, a_child_of_fork_is_told_to_load_again)
{
  const auto model = dispatched(workers(2, 8));
  model->forward(toy_inputs(20));
  const auto child = fork();
  if (child == 0)
  {
    try
    {
      model->forward(toy_inputs(20));
    }
    catch (const FatalError & e)
    {
      _exit(std::string(e.what()).find("fork") == std::string::npos);
    }
    _exit(2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

namespace
{
/// The toy law that notes who calls it, and fails for marked rows.
class Watched final : public Model
{
public:
  struct Notes
  {
    std::atomic<int> calls{0};
    std::atomic<int> running{0};
    std::atomic<int> most_running{0};
    std::atomic<std::int64_t> most_rows{0};
    std::mutex mutex;
    std::set<std::thread::id> threads;
  };

  Watched(std::unique_ptr<Model> law, std::shared_ptr<Notes> notes) : _law(std::move(law)), _notes(std::move(notes)) {}

  const Description & description() const override { return _law->description(); }
  Evaluation evaluate(const TensorMap & inputs, const EvaluateOptions & options) const override
  {
    auto & notes = *_notes;
    notes.calls++;
    {
      const std::lock_guard lock(notes.mutex);
      notes.threads.insert(std::this_thread::get_id());
    }
    const int running = ++notes.running;
    for (int most = notes.most_running; running > most && !notes.most_running.compare_exchange_weak(most, running);)
      ;
    const auto rows = inputs.at("s").size(0);
    for (auto most = notes.most_rows.load(); rows > most && !notes.most_rows.compare_exchange_weak(most, rows);)
      ;
    struct Leave
    {
      std::atomic<int> & running;
      ~Leave() { running--; }
    } const leave{notes.running};
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if ((inputs.at("s") == 777.0).any().item<bool>())
      throw FatalError("this chunk is marked");
    if ((inputs.at("s") == 888.0).any().item<bool>())
      throw std::runtime_error("out of memory, say");
    return _law->evaluate(inputs, options);
  }
  std::pair<TensorMap, TensorMap> jvp(const TensorMap & inputs, const TensorMap & tangents) const override
  {
    return _law->jvp(inputs, tangents);
  }
  const TensorMap & named_parameters() const override { return _law->named_parameters(); }
  void set_parameter(const std::string & name, const at::Tensor & value) override { _law->set_parameter(name, value); }
  BlockMap param_jacobian(const TensorMap & inputs) const override { return _law->param_jacobian(inputs); }
  TensorMap param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const override
  {
    return _law->param_vjp(inputs, cotangents);
  }

private:
  std::unique_ptr<Model> _law;
  std::shared_ptr<Notes> _notes;
};

class WatchedDispatch : public ::testing::Test
{
protected:
  DispatchedModel make(std::shared_ptr<const Scheduler> scheduler)
  {
    return DispatchedModel(std::move(scheduler),
                           [&](const at::Device &) { return std::make_unique<Watched>(law.load(), notes); });
  }
  const ToyLaw law;
  const std::shared_ptr<Watched::Notes> notes = std::make_shared<Watched::Notes>();
};
}

TEST_F(WatchedDispatch, chunks_run_side_by_side_and_never_two_on_one_device)
{
  const auto model = make(workers(3, 5));
  model.forward(toy_inputs(60));
  EXPECT_EQ(notes->calls, 12);
  EXPECT_EQ(notes->most_rows, 5);
  EXPECT_LE(notes->most_running, 3);
  EXPECT_LE(notes->threads.size(), 3u);
  EXPECT_GE(notes->threads.size(), 2u);
  EXPECT_FALSE(notes->threads.count(std::this_thread::get_id()));
}

TEST_F(WatchedDispatch, a_fatal_error_cancels_what_has_not_begun)
{
  // Room for everything at once: all chunks are queued when the first one fails.
  const auto model = make(std::make_shared<SimpleScheduler>(at::kCPU, 5, 1000));
  auto inputs = toy_inputs(500);
  inputs["s"] = inputs.at("s").clone();
  for (const auto & [marker, part] : {std::pair{777.0, "this chunk is marked"}, {888.0, "out of memory"}})
  {
    inputs["s"][2] = marker;
    notes->calls = 0;
    try
    {
      model.forward(inputs);
      FAIL() << "nothing was thrown";
    }
    catch (const AggregateError & e)
    {
      EXPECT_FALSE(e.recoverable());
      EXPECT_TRUE(e.failed_rows().empty());
      EXPECT_PRED_FORMAT2(mentions, e.what(), (Words{part, "rows 0 to 4", "cpu"}));
    }
    EXPECT_EQ(notes->calls, 1) << "99 chunks were cancelled";
    EXPECT_EQ(notes->running, 0) << "nothing runs on when the call is over";
  }
  inputs["s"][2] = 1.0;
  EXPECT_NO_THROW(model.forward(inputs)) << "the device is ready for the next call";
  EXPECT_EQ(notes->calls, 101);
}

TEST_F(WatchedDispatch, many_failing_calls_leave_the_devices_ready)
{
  const auto model = make(workers(2, 1000));
  auto inputs = toy_inputs(4);
  const auto expected = model.forward(inputs).at("stress");
  auto bad = inputs;
  bad["s"] = at::full({4}, 777.0, at::kDouble);
  for (int call = 0; call < 200; call++)
    EXPECT_THROW(model.forward(bad), AggregateError);
  EXPECT_TRUE(same_bits(model.forward(inputs).at("stress"), expected));
}

TEST_F(WatchedDispatch, copies_that_differ_are_refused)
{
  const ToyLaw single(at::kFloat);
  int n = 0;
  EXPECT_PRED_FORMAT2(mentions,
                      fatal_error(
                          [&]
                          {
                            DispatchedModel(workers(2, 5), [&](const at::Device &)
                                            { return n++ ? single.load({.dtype = at::kFloat}) : law.load(); });
                          }),
                      (Words{"'toy'", "cpu", "dtype"}));
  EXPECT_PRED_FORMAT2(mentions,
                      fatal_error([&] { DispatchedModel(nullptr, [&](const at::Device &) { return law.load(); }); }),
                      (Words{"scheduler"}));
}

TEST(Schedulers, the_highest_priority_with_room_is_next)
{
  const StaticHybridScheduler scheduler({{.device = at::Device(at::kCUDA, 0), .chunk_rows = 100, .priority = 2.0},
                                         {.device = at::Device(at::kCUDA, 1), .chunk_rows = 100, .priority = 2.0},
                                         {.device = at::kCPU, .chunk_rows = 10, .capacity = 25, .priority = 1.0}});
  const auto next = [&](std::vector<std::int64_t> held, std::int64_t rows)
  {
    const auto found = scheduler.next(held, rows);
    return found ? std::pair(int(found->device), found->rows) : std::pair(-1, std::int64_t(0));
  };
  using P = std::pair<int, std::int64_t>;
  EXPECT_EQ(next({0, 0, 0}, 1000), P(0, 100));
  EXPECT_EQ(next({100, 0, 0}, 900), P(1, 100)) << "of equals the one that holds fewer rows";
  EXPECT_EQ(next({200, 100, 0}, 700), P(1, 100));
  EXPECT_EQ(next({200, 200, 0}, 600), P(2, 10));
  EXPECT_EQ(next({200, 200, 10}, 590), P(2, 10));
  EXPECT_EQ(next({200, 200, 20}, 580), P(-1, 0)) << "20 + 10 rows are above the capacity of 25";
  EXPECT_EQ(next({200, 200, 20}, 4), P(2, 4));
  EXPECT_EQ(next({0, 0, 0}, 7), P(0, 7));
}

TEST(Schedulers, a_simple_one_sends_all_rows_or_chunks)
{
  EXPECT_EQ(SimpleScheduler(at::kCPU).next({0}, 1000)->rows, 1000);
  const SimpleScheduler chunks(at::kCPU, 64);
  EXPECT_EQ(chunks.devices()[0].capacity, 128);
  EXPECT_EQ(chunks.next({64}, 1000)->rows, 64);
  EXPECT_FALSE(chunks.next({128}, 1000));
}

TEST(Schedulers, wrong_settings_are_refused)
{
  const auto hybrid = [](std::vector<DeviceConfig> devices)
  { return fatal_error([&] { const StaticHybridScheduler scheduler(devices); }); };
  const DeviceConfig cpu{.chunk_rows = 8};
  const at::Device gpu(at::kCUDA, 0);
  EXPECT_PRED_FORMAT2(mentions, hybrid({}), (Words{"one device at least"}));
  EXPECT_PRED_FORMAT2(mentions, hybrid({cpu, cpu}), (Words{"at most one CPU"}));
  EXPECT_PRED_FORMAT2(mentions, hybrid({cpu, {.device = gpu}}), (Words{"cuda:0", "chunk_rows"}));
  EXPECT_PRED_FORMAT2(mentions, hybrid({{.device = gpu, .chunk_rows = 8}, {.device = gpu, .chunk_rows = 8}}),
                      (Words{"cuda:0", "twice"}));
  EXPECT_PRED_FORMAT2(mentions, hybrid({{.chunk_rows = 8, .capacity = 7}}), (Words{"cpu", "7", "8"}));
  EXPECT_PRED_FORMAT2(mentions, hybrid({{.capacity = 7}}), (Words{"chunk_rows"}));
  EXPECT_PRED_FORMAT2(mentions, hybrid({{.chunk_rows = -1}}), (Words{"chunk_rows is -1"}));
  EXPECT_PRED_FORMAT2(mentions, hybrid({{.chunk_rows = 8, .capacity = -1}}), (Words{"capacity is -1"}));
  EXPECT_PRED_FORMAT2(mentions, hybrid({{.priority = std::nan("")}}), (Words{"priority"}));
}

namespace
{
/// Gives nothing, or rows to a device that there is not.
class Wrong final : public Scheduler
{
public:
  explicit Wrong(std::optional<Assignment> answer) : Scheduler(std::vector<DeviceConfig>(1)), _answer(answer) {}
  std::optional<Assignment> next(const std::vector<std::int64_t> &, std::int64_t) const override { return _answer; }

private:
  std::optional<Assignment> _answer;
};
}

TEST_F(Dispatch, a_scheduler_of_the_host_that_is_wrong_does_not_hang)
{
  EXPECT_PRED_FORMAT2(mentions,
                      fatal_error([&] { dispatched(std::make_shared<Wrong>(std::nullopt))->forward(toy_inputs(3)); }),
                      (Words{"no device"}));
  EXPECT_PRED_FORMAT2(
      mentions, fatal_error([&] { dispatched(std::make_shared<Wrong>(Assignment{1, 3}))->forward(toy_inputs(3)); }),
      (Words{"device number 1"}));
}

TEST(DeviceOfRank, one_each_unless_sharing_is_allowed)
{
  const std::vector<at::Device> gpus{at::Device(at::kCUDA, 0), at::Device(at::kCUDA, 1)};
  EXPECT_EQ(device_of_rank(0, 2, gpus), gpus[0]);
  EXPECT_EQ(device_of_rank(1, 2, gpus), gpus[1]);
  EXPECT_EQ(device_of_rank(2, 3, gpus, Sharing::ALLOWED), gpus[0]);
  for (const int rank : {0, 1, 2})
    EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { device_of_rank(rank, 3, gpus); }),
                        (Words{"3 processes", "2 devices (cuda:0, cuda:1)", "Sharing::ALLOWED"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { device_of_rank(0, 1, {}); }), (Words{"empty"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { device_of_rank(2, 2, gpus); }), (Words{"rank 2 of 2"}));
}

TEST_F(Dispatch, on_a_gpu_beside_the_cpu)
{
  if (!at::globalContext().hasCUDA())
    GTEST_SKIP() << "this torch has no CUDA, or there is no GPU";
  const auto scheduler = std::make_shared<StaticHybridScheduler>(
      std::vector<DeviceConfig>{{.device = at::Device(at::kCUDA, 0), .chunk_rows = 64, .priority = 2.0},
                                {.device = at::kCPU, .chunk_rows = 8, .priority = 1.0}});
  // The toy law's kernels are for CPUs: what is shown is that the scheduler's device reaches the loader.
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { dispatched(scheduler); }), (Words{"cuda"}));
}
