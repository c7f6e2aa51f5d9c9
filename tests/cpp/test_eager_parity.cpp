// One suite for both runtimes: all that differs is how the law is loaded.
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/aoti/load_model.h"
#include "matlaw/load_model.h"

namespace
{
using namespace matlaw;
namespace fs = std::filesystem;

const std::vector<std::string> laws = {"linear_elastic", "j2_viscoplastic", "j2_plastic"};

std::string stub(const std::string & law)
{
  const char * folder = std::getenv("MATLAW_TEST_ARTIFACTS");
  return folder ? (fs::path(folder) / (law + "-native") / "model_aoti.i").string() : "";
}

struct Compiled
{
  static std::unique_ptr<Model> load(const std::string & law)
  {
    return load_model(stub(law), "model", {.runtime = Runtime::AOTI});
  }
};

struct Source
{
  static std::unique_ptr<Model> load(const std::string & law)
  {
    return load_model(stub(law), "model", {.runtime = Runtime::EAGER});
  }
};

struct InputFile
{
  static std::unique_ptr<Model> load(const std::string & law)
  {
    return load_model(std::string(MATLAW_EXAMPLES) + "/" + law + ".i", "model");
  }
};

/// A step that is elastic in some rows and plastic in others, from a virgin state.
TensorMap step(const Model & law, std::int64_t rows)
{
  TensorMap inputs;
  for (std::size_t i = 0; i < law.input_names().size(); i++)
  {
    std::vector<std::int64_t> shape{rows};
    shape.insert(shape.end(), law.input_base_shapes()[i].begin(), law.input_base_shapes()[i].end());
    inputs[law.input_names()[i]] = at::zeros(shape, at::kDouble);
  }
  inputs.at("strain") = 1.5e-3 * at::sin(at::arange(rows * 6, at::kDouble).reshape({rows, 6}) * 0.7);
  if (inputs.count("t"))
    inputs.at("t").fill_(0.5);
  return inputs;
}

void expect_close(const at::Tensor & value, const at::Tensor & expected, const std::string & what)
{
  ASSERT_EQ(value.sizes(), expected.sizes()) << what;
  const double scale = expected.numel() ? 1.0 + at::nan_to_num(expected).abs().max().item<double>() : 1.0;
  EXPECT_TRUE(at::allclose(value, expected, 1e-10, 1e-12 * scale, true))
      << what << " differs by (sum) " << (value - expected).abs().sum().item<double>();
}

void expect_close(const TensorMap & values, const TensorMap & expected, const std::string & what)
{
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (const auto & [name, value] : values)
    expect_close(value, expected.at(name), what + " " + name);
}

/// Type of the exception and what it names.
template <typename Error, typename Action>
void expect_error(Action && action, const std::string & part, const std::string & law)
{
  try
  {
    action();
    ADD_FAILURE() << law << ": nothing was thrown";
  }
  catch (const Error & e)
  {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
        << law << ": '" << part << "' is not in " << e.what();
  }
}

template <typename Route>
class Parity : public ::testing::Test
{
protected:
  void SetUp() override
  {
    if (stub("").empty())
      GTEST_SKIP() << "set MATLAW_TEST_ARTIFACTS to the folder that tests/artifacts.py writes";
  }

  /// Calls `check` with each law of this route and the compiled one.
  template <typename Check>
  static void for_all_laws(Check && check)
  {
    for (const auto & name : laws)
    {
      SCOPED_TRACE(name);
      const auto law = Route::load(name);
      const auto reference = aoti::load_model(stub(name), "model");
      check(*law, *reference);
    }
  }
};

using Routes = ::testing::Types<Compiled, Source, InputFile>;
TYPED_TEST_SUITE(Parity, Routes);

TYPED_TEST(Parity, metadata)
{
  this->for_all_laws(
      [](const Model & law, const Model & reference)
      {
        EXPECT_EQ(law.name(), reference.name());
        EXPECT_EQ(law.input_names(), reference.input_names());
        EXPECT_EQ(law.output_names(), reference.output_names());
        EXPECT_EQ(law.input_base_shapes(), reference.input_base_shapes());
        EXPECT_EQ(law.output_base_shapes(), reference.output_base_shapes());
        EXPECT_EQ(law.input_sub_batch_shapes(), reference.input_sub_batch_shapes());
        EXPECT_EQ(law.output_sub_batch_shapes(), reference.output_sub_batch_shapes());
        EXPECT_EQ(law.input_types(), reference.input_types());
        EXPECT_EQ(law.output_types(), reference.output_types());
        EXPECT_EQ(law.device(), reference.device());
        EXPECT_EQ(law.dtype(), reference.dtype());
        ASSERT_EQ(law.state_pairs().size(), reference.state_pairs().size());
        for (std::size_t i = 0; i < law.state_pairs().size(); i++)
        {
          EXPECT_EQ(law.state_pairs()[i].current, reference.state_pairs()[i].current);
          EXPECT_EQ(law.state_pairs()[i].old, reference.state_pairs()[i].old);
          EXPECT_EQ(law.state_pairs()[i].is_state, reference.state_pairs()[i].is_state);
          EXPECT_EQ(law.state_pairs()[i].initial, reference.state_pairs()[i].initial);
        }
        // An input file offers every derivative, an artifact those that were asked for.
        ASSERT_FALSE(reference.derivative_pairs().empty());
        for (const auto & wanted : reference.derivative_pairs())
          EXPECT_TRUE(std::any_of(law.derivative_pairs().begin(), law.derivative_pairs().end(), [&](const auto & pair)
                                  { return pair.output == wanted.output && pair.input == wanted.input; }));
      });
}

TYPED_TEST(Parity, values_iterations_and_derivatives)
{
  this->for_all_laws(
      [](const Model & law, const Model & reference)
      {
        for (const std::int64_t rows : {0, 1, 3, 40})
        {
          const auto inputs = step(law, rows);
          const auto result = law.evaluate(inputs, {.jacobian = true, .pairs = reference.derivative_pairs()});
          const auto expected = reference.evaluate(inputs, {.jacobian = true});
          EXPECT_TRUE(result.ok());
          EXPECT_TRUE(at::equal(result.iterations, expected.iterations)) << result.iterations << expected.iterations;
          EXPECT_TRUE(at::equal(result.status, expected.status));
          expect_close(result.dt_factor, expected.dt_factor, "dt_factor");
          for (const auto & [name, value] : result.outputs)
            EXPECT_TRUE(value.is_contiguous());
          if (rows == 0)
            continue;
          expect_close(result.outputs, expected.outputs, "output");
          for (const auto & [output, row] : expected.jacobian)
            for (const auto & [input, block] : row)
            {
              auto shape = result.jacobian.at(output).at(input).sizes();
              expect_close(result.jacobian.at(output).at(input), block.expand(shape), output + " by " + input);
            }
        }
      });
}

TYPED_TEST(Parity, directional_derivatives)
{
  this->for_all_laws(
      [](const Model & law, const Model & reference)
      {
        const auto inputs = step(law, 7);
        const TensorMap tangents{{"strain", at::cos(inputs.at("strain") * 1e3)}};
        const auto [outputs, along] = law.jvp(inputs, tangents);
        const auto [expected_outputs, expected] = reference.jvp(inputs, tangents);
        expect_close(outputs, expected_outputs, "output");
        for (const auto & [name, value] : expected)
          expect_close(along.at(name), value, "derivative of " + name);
      });
}

TYPED_TEST(Parity, failed_rows)
{
  this->for_all_laws(
      [](const Model & law, const Model & reference)
      {
        auto inputs = step(law, 9);
        inputs.at("strain")[2] = std::numeric_limits<double>::quiet_NaN();
        inputs.at("strain")[6] *= 1e9;
        const auto result = law.evaluate(inputs);
        const auto expected = reference.evaluate(inputs);
        EXPECT_EQ(result.failed_rows, expected.failed_rows);
        EXPECT_TRUE(at::equal(result.status, expected.status)) << result.status << expected.status;
        // How soon a step that is a billion times too large comes to no end, rounding decides.
        const auto sound = expected.status == std::int64_t(Status::CONVERGED);
        EXPECT_TRUE(at::equal(result.iterations.index({sound}), expected.iterations.index({sound})))
            << result.iterations << expected.iterations;
        expect_close(result.dt_factor, expected.dt_factor, "dt_factor");
        expect_close(result.outputs, expected.outputs, "output");
        EXPECT_EQ(result.status[2].template item<int>(), int(Status::BAD_INPUT));
      });
}

TYPED_TEST(Parity, errors_for_rows)
{
  this->for_all_laws(
      [](const Model & law, const Model & reference)
      {
        auto inputs = step(law, 9);
        inputs.at("strain")[6] *= 1e9;
        const auto failed = reference.evaluate(inputs).failed_rows;
        if (failed.empty())
          EXPECT_NO_THROW(law.forward(inputs));
        else
          try
          {
            law.forward(inputs);
            ADD_FAILURE() << "nothing was thrown";
          }
          catch (const Exception & e)
          {
            EXPECT_TRUE(e.recoverable());
            EXPECT_EQ(dynamic_cast<const ConvergenceError &>(e).failed_rows(), failed);
          }
        inputs.at("strain")[2][4] = std::numeric_limits<double>::infinity();
        try
        {
          law.jacobian(inputs);
          ADD_FAILURE() << "nothing was thrown";
        }
        catch (const InputError & e)
        {
          EXPECT_EQ(e.variable(), "strain");
          EXPECT_EQ(e.row(), 2);
        }
      });
}

TYPED_TEST(Parity, wrong_calls)
{
  this->for_all_laws(
      [](const Model & law, const Model & reference)
      {
        const auto good = step(law, 4);
        const auto with = [&](const std::string & name, const at::Tensor & value)
        {
          auto inputs = good;
          inputs[name] = value;
          return [&law, inputs] { law.evaluate(inputs); };
        };
        auto without = good;
        without.erase("strain");
        expect_error<FatalError>([&] { law.evaluate(without); }, "strain", law.name());
        expect_error<FatalError>(with("strian", at::zeros({4, 6}, at::kDouble)), "strian", law.name());
        expect_error<FatalError>(with("strain", at::zeros({4, 5}, at::kDouble)), "strain", law.name());
        expect_error<FatalError>(with("strain", at::zeros({4, 1}, at::kDouble)), "strain", law.name());
        expect_error<FatalError>(with("strain", at::zeros({4, 6}, at::kFloat)), "strain", law.name());
        if (good.size() > 1)
          expect_error<FatalError>(with("strain", at::zeros({3, 6}, at::kDouble)), "strain", law.name());
        expect_error<FatalError>([&] { law.jvp(good, {{"strian", good.at("strain")}}); }, "strian", law.name());
      });
}

TYPED_TEST(Parity, strides_do_not_matter)
{
  this->for_all_laws(
      [](const Model & law, const Model & reference)
      {
        auto inputs = step(law, 8);
        const auto expected = law.forward(inputs);
        inputs.at("strain") = inputs.at("strain").t().contiguous().t();
        expect_close(law.forward(inputs), expected, "output");
      });
}

/// The artifact's own runtime and its source: both have the promoted parameters only.
template <typename Route>
class ParameterParity : public Parity<Route>
{
};
using ArtifactRoutes = ::testing::Types<Compiled, Source>;
TYPED_TEST_SUITE(ParameterParity, ArtifactRoutes);

TYPED_TEST(ParameterParity, values_and_derivatives_by_parameters)
{
  for (const std::string name : {"linear_elastic", "j2_viscoplastic"})
  {
    SCOPED_TRACE(name);
    const auto place = fs::path(stub(name)).parent_path().parent_path() / (name + "-parameter-derivatives");
    const auto path = (place / "model_aoti.i").string();
    const auto law =
        load_model(path, "model", {.runtime = std::is_same_v<TypeParam, Compiled> ? Runtime::AOTI : Runtime::EAGER});
    const auto reference = aoti::load_model(path, "model");
    const auto inputs = step(*law, 6);
    const auto cotangent = at::cos(at::arange(36, at::kDouble)).reshape({6, 6});
    ASSERT_EQ(law->named_parameters().size(), reference->named_parameters().size());
    for (const bool per_row : {false, true})
    {
      if (per_row)
      {
        const auto first = *reference->named_parameters().begin();
        for (auto * each : {law.get(), static_cast<Model *>(reference.get())})
          each->set_parameter(first.first, first.second * at::linspace(0.9, 1.1, 6, at::kDouble));
      }
      expect_close(law->named_parameters(), reference->named_parameters(), "parameter");
      expect_close(law->forward(inputs), reference->forward(inputs), "output");
      const auto blocks = law->param_jacobian(inputs);
      for (const auto & [output, row] : reference->param_jacobian(inputs))
        for (const auto & [parameter, block] : row)
          expect_close(blocks.at(output).at(parameter), block.expand(blocks.at(output).at(parameter).sizes()),
                       output + " by " + parameter);
      const auto gradients = law->param_vjp(inputs, {{"stress", cotangent}});
      for (const auto & [parameter, gradient] : reference->param_vjp(inputs, {{"stress", cotangent}}))
        expect_close(gradients.at(parameter), gradient, "gradient by " + parameter);
    }
    expect_error<FatalError>([&] { law->set_parameter("nothing", at::ones({}, at::kDouble)); }, "nothing", name);
  }
}

TYPED_TEST(ParameterParity, a_parameter_that_is_not_finite_is_refused)
{
  const auto path = fs::path(stub("linear_elastic")).parent_path().parent_path() / "linear_elastic-parameters";
  const auto law = load_model((path / "model_aoti.i").string(), "model",
                              {.runtime = std::is_same_v<TypeParam, Compiled> ? Runtime::AOTI : Runtime::EAGER});
  const auto before = law->forward(step(*law, 4)).at("stress");
  auto modulus = at::full({4}, 1e5, at::kDouble);
  modulus[2] = std::numeric_limits<double>::quiet_NaN();
  try
  {
    law->set_parameter("model.E", modulus);
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const InputError & e)
  {
    EXPECT_EQ(e.variable(), "model.E");
  }
  EXPECT_TRUE(at::equal(law->forward(step(*law, 4)).at("stress"), before));
}

TYPED_TEST(Parity, an_undefined_tensor_is_refused)
{
  this->for_all_laws(
      [](const Model & law, const Model & reference)
      {
        auto inputs = step(law, 4);
        inputs.at("strain") = at::Tensor();
        expect_error<FatalError>([&] { law.evaluate(inputs); }, "strain", law.name());
      });
}
}
