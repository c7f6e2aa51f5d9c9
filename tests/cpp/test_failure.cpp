#include <cmath>
#include <cstdlib>
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "matlaw/Failure.h"
#include "matlaw/host/QuadratureBatch.h"
#include "matlaw/logging.h"
#include "matlaw/native/abi.h"
#include "matlaw/solve/Newton.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;

namespace
{
/// x = sqrt(s) without strain; a negative s has no solution.
TensorMap inputs_with(const std::vector<double> & s)
{
  const auto rows = std::int64_t(s.size());
  return {{"strain", at::zeros({rows, 6}, at::kDouble)},
          {"s", at::tensor(s, at::kDouble)},
          {"x~1", at::ones({rows}, at::kDouble)}};
}

/// One unknown per row; r = (u - root)^2 + offset. Without a root for a positive offset.
class Parabola final : public solve::NonlinearSystem<double>
{
public:
  explicit Parabola(std::vector<double> offsets) : _offsets(std::move(offsets)) {}
  std::int64_t size() const override { return 1; }
  void keep(const std::vector<std::int32_t> & positions) override
  {
    std::vector<double> kept;
    for (const auto position : positions)
      kept.push_back(_offsets[position]);
    _offsets = kept;
  }
  void residual(const double * u, double * b, std::int64_t ld, std::int64_t rows) override
  {
    for (std::int64_t i = 0; i < ld; i++)
      b[i] = -(u[i] * u[i] + _offsets[std::min(i, rows - 1)]);
  }
  void jacobian(const double * u, double * A, double * b, std::int64_t ld, std::int64_t rows) override
  {
    residual(u, b, ld, rows);
    for (std::int64_t i = 0; i < ld; i++)
      A[i] = 2.0 * u[i];
  }

private:
  std::vector<double> _offsets;
};

/// MATLAW_FAILURE_DIR while it lives.
struct FailureFolder
{
  FailureFolder() { setenv("MATLAW_FAILURE_DIR", path().c_str(), 1); }
  ~FailureFolder() { unsetenv("MATLAW_FAILURE_DIR"); }
  std::filesystem::path path() const { return folder.path() / "failures"; }
  std::size_t files() const
  {
    return std::filesystem::exists(path()) ? std::size_t(std::distance(std::filesystem::directory_iterator(path()), {}))
                                           : 0;
  }
  TemporaryFolder folder;
};
}

TEST(Recorder, norms_steps_and_reasons_of_every_row)
{
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> offsets = {-4.0, 1.0, 1.0, nan, -9.0, -1e-30, 0.5, -2.0, -3.0};
  const std::int64_t rows = std::int64_t(offsets.size()), ld = 16;
  std::vector<double> u(ld, 3.0);
  u[1] = 0.0; // no slope
  u[2] = 1.0; // no slope after one step
  solve::NewtonConfig config;
  config.miters = 6;
  std::vector<double> residual(rows * 7, -1.0), step(rows * 6, -1.0), iterates(rows * 7, -1.0);
  solve::Recorder<double> recorder;
  recorder.miters = config.miters;
  recorder.size = 1;
  recorder.residual = residual.data();
  recorder.step = step.data();
  recorder.iterates = iterates.data();
  std::vector<solve::RowVerdict> verdicts(rows);
  Parabola system(offsets);
  solve::newton<double>(system, u.data(), ld, rows, config, verdicts.data(), &recorder);

  EXPECT_EQ(verdicts[0].reason, Reason::NONE);
  EXPECT_EQ(verdicts[1].reason, Reason::SINGULAR_JACOBIAN);
  EXPECT_EQ(verdicts[1].iterations, 0);
  EXPECT_EQ(verdicts[2].reason, Reason::SINGULAR_JACOBIAN);
  EXPECT_EQ(verdicts[2].iterations, 1);
  EXPECT_EQ(verdicts[3].reason, Reason::RESIDUAL_NOT_FINITE);
  EXPECT_EQ(verdicts[6].reason, Reason::ITERATION_LIMIT);
  for (std::int64_t row = 0; row < rows; row++)
  {
    const auto & verdict = verdicts[row];
    for (std::int64_t k = 0; k <= 6; k++)
    {
      const auto at = iterates[row * 7 + k];
      if (k > verdict.iterations)
      {
        EXPECT_TRUE(std::isnan(at) && std::isnan(residual[row * 7 + k])) << row << " " << k;
      }
      else if (row != 3)
      {
        EXPECT_EQ(residual[row * 7 + k], std::abs(at * at + offsets[row])) << row << " " << k;
      }
      if (k < 6)
      {
        EXPECT_EQ(std::isnan(step[row * 6 + k]), k >= verdict.iterations) << row << " " << k;
      }
    }
  }
  EXPECT_EQ(iterates[0 * 7], 3.0);
  EXPECT_EQ(iterates[1 * 7], 0.0);
}

TEST(Failure, history_on_request)
{
  const ToyLaw law;
  const auto model = law.load();
  const auto inputs = inputs_with({4.0, 1.0, -1.0, 9.0});
  const auto plain = model->evaluate(inputs);
  EXPECT_TRUE(plain.history.empty());
  EXPECT_FALSE(plain.reason.defined());
  const auto told = model->evaluate(inputs, {.history = true});
  ASSERT_EQ(told.history.size(), 1u);
  const auto & history = told.history[0];
  EXPECT_EQ(history.unknowns, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(history.residual.sizes(), (std::vector<std::int64_t>{4, 31}));
  EXPECT_EQ(history.step.sizes(), (std::vector<std::int64_t>{4, 30}));
  for (const auto row : {0, 1, 3})
  {
    const auto k = told.iterations[row].item<std::int64_t>();
    EXPECT_EQ(at::isfinite(history.residual[row]).sum().item<std::int64_t>(), k + 1);
    EXPECT_EQ(at::isfinite(history.step[row]).sum().item<std::int64_t>(), k);
    EXPECT_EQ(history.residual[row][k].item<double>(), told.residual[row].item<double>());
    EXPECT_EQ(told.reason[row].item<int>(), int(Reason::NONE));
    EXPECT_EQ(told.place[row].item<int>(), -1);
  }
  EXPECT_NE(told.reason[2].item<int>(), int(Reason::NONE));
  EXPECT_EQ(told.place[2].item<int>(), 0);
}

TEST(Failure, the_last_failing_call)
{
  const ToyLaw law;
  const auto model = law.load();
  EXPECT_EQ(model->last_failure(), nullptr);
  auto inputs = inputs_with({4.0, -1.0, 9.0, -16.0});
  EXPECT_FALSE(model->evaluate(inputs).ok());
  inputs.at("s").fill_(1.0); // what the report has are copies
  EXPECT_TRUE(model->evaluate(inputs).ok());
  const auto failure = model->last_failure();
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->n_rows, 4);
  EXPECT_EQ(failure->failed_rows, (std::vector<std::int64_t>{1, 3}));
  ASSERT_EQ(failure->rows.size(), 2u);
  EXPECT_EQ(failure->rows[1].row, 3);
  EXPECT_EQ(failure->inputs.at("s")[1].item<double>(), -16.0);
  EXPECT_EQ(failure->inputs.at("strain").sizes(), (std::vector<std::int64_t>{2, 6}));
  for (const auto & row : failure->rows)
  {
    EXPECT_EQ(row.residuals.size(), row.steps.size() + 1);
    EXPECT_EQ(std::size_t(row.iterations), row.steps.size());
    EXPECT_FALSE(row.text.empty());
  }
  EXPECT_PRED_FORMAT2(mentions, failure->message(),
                      (Words{"'toy'", "2 of 4 rows (1, 3)", "Worst is row", failure->rows[failure->worst()].text}));
}

TEST(Failure, a_message_is_that_of_its_own_call)
{
  const ToyLaw law;
  const auto model = law.load();
  try
  {
    model->forward(inputs_with({4.0, -1.0}));
    FAIL() << "forward() must throw";
  }
  catch (const ConvergenceError & error)
  {
    EXPECT_EQ(std::string(error.what()), model->last_failure()->message());
    EXPECT_PRED_FORMAT2(mentions, error.what(), (Words{"1 of 2 rows (1)", "Row 1: ", "Its inputs: "}));
  }
}

TEST(Failure, bad_inputs_in_words)
{
  const ToyLaw law;
  const auto model = law.load();
  EXPECT_FALSE(model->evaluate(inputs_with({4.0, std::nan("")})).ok());
  const auto failure = model->last_failure();
  ASSERT_EQ(failure->rows.size(), 1u);
  EXPECT_EQ(failure->rows[0].status, Status::BAD_INPUT);
  EXPECT_EQ(failure->rows[0].reason, Reason::INPUT_NOT_FINITE);
  EXPECT_EQ(failure->rows[0].text, "'s' is NaN or infinite");
}

TEST(Failure, time_that_does_not_advance)
{
  const ToyLaw law;
  law.edit([](auto & metadata) { metadata["times"] = {{{"current", "s"}, {"old", "x~1"}}}; });
  const std::shared_ptr<Model> model = law.load();
  EXPECT_EQ(model->times().size(), 1u);
  // s before x~1 = 1, but solvable: nobody complains
  EXPECT_TRUE(model->evaluate(inputs_with({0.5})).ok());
  const auto inputs = inputs_with({4.0, -1.0});
  EXPECT_EQ(model->evaluate(inputs).status[1].item<int>(), int(Status::BAD_INPUT));
  try
  {
    model->forward(inputs);
    FAIL() << "forward() must throw";
  }
  catch (const InputError & error)
  {
    EXPECT_EQ(error.variable(), "s");
    EXPECT_EQ(error.row(), 1);
    EXPECT_PRED_FORMAT2(mentions, error.what(), (Words{"row 1", "'s' is -1", "'x~1' is 1", "smaller time step"}));
  }
  EXPECT_EQ(model->last_failure()->rows[0].text, "time 's' does not advance");

  host::QuadratureBatch batch(model, 2);
  batch.set_input("strain", std::vector<double>(12, 0.0));
  batch.set_input("s", -1.0);
  EXPECT_THROW(batch.evaluate(), InputError);

  law.edit([](auto & metadata) { metadata["times"] = {{{"current", "t"}, {"old", "x~1"}}}; });
  EXPECT_PRED_FORMAT2(mentions, load_error(law.stub()), (Words{"'t'", "not two inputs of one shape"}));
}

TEST(Failure, replay_files)
{
  const ToyLaw law;
  const auto model = law.load();
  {
    const FailureFolder folder;
    EXPECT_TRUE(model->evaluate(inputs_with({4.0})).ok());
    EXPECT_EQ(folder.files(), 0u);
    EXPECT_FALSE(model->evaluate(inputs_with({4.0, -1.0})).ok());
    ASSERT_EQ(folder.files(), 1u);
    const auto path = std::filesystem::directory_iterator(folder.path())->path();
    EXPECT_EQ(model->last_failure()->file, path.string());
    const auto found = nlohmann::json::parse(read_file(path));
    EXPECT_EQ(found["model"], "toy");
    EXPECT_EQ(found["source"]["file"], "toy.i");
    EXPECT_EQ(found["rows"][0]["row"], 1);
    EXPECT_EQ(found["rows"][0]["inputs"]["s"][0], -1.0);
    EXPECT_EQ(found["solver_configs"].begin().value()["miters"], 30);
    EXPECT_EQ(found["parameters"]["gain"]["value"][0], 1.0);
  }
  EXPECT_FALSE(model->evaluate(inputs_with({-1.0})).ok());
  EXPECT_EQ(model->last_failure()->file, "");
}

TEST(Failure, a_folder_that_cannot_be_written_is_said_and_breaks_nothing)
{
  const ToyLaw law;
  const auto model = law.load();
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "");
  setenv("MATLAW_FAILURE_DIR", (folder.path() / "file").c_str(), 1);
  std::vector<std::string> said;
  logging::set_sink([&](logging::Channel, logging::Level, const std::string & text) { said.push_back(text); });
  for (int i = 0; i < 2; i++)
    EXPECT_EQ(model->evaluate(inputs_with({4.0, -1.0})).failed_rows, (std::vector<std::int64_t>{1}));
  logging::set_sink({});
  unsetenv("MATLAW_FAILURE_DIR");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_PRED_FORMAT2(mentions, said[0], (Words{"MATLAW_FAILURE_DIR", (folder.path() / "file").string()}));
}

TEST(Failure, what_newton_says_in_the_log)
{
  const ToyLaw law;
  const auto model = law.load();
  std::vector<std::string> said;
  logging::set_sink([&](logging::Channel, logging::Level, const std::string & text) { said.push_back(text); });
  model->evaluate(inputs_with({4.0, -1.0}));
  EXPECT_TRUE(said.empty());
  logging::set_levels("newton=info");
  model->evaluate(inputs_with({4.0, -1.0}));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_PRED_FORMAT2(mentions, said[0], (Words{"'toy'", "1 of 2 rows failed (1)"}));
  logging::set_levels("newton=debug");
  model->evaluate(inputs_with({4.0, 1.0}));
  logging::set_levels("newton=warn");
  logging::set_sink({});
  EXPECT_PRED_FORMAT2(mentions, said[1], (Words{"iteration 0: ", "rows left, largest |r| = "}));
}
