// A program whose first act is to evaluate a law from its input file.
//
//   startup <input file> <model> <derivatives: 0 or 1>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <matlaw/eager/load_model.h>

using Clock = std::chrono::steady_clock;

static double milliseconds_since(Clock::time_point start)
{
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

static matlaw::TensorMap zeros(const matlaw::Model & law)
{
  matlaw::TensorMap inputs;
  for (std::size_t i = 0; i < law.input_names().size(); ++i)
  {
    std::vector<std::int64_t> shape{8};
    shape.insert(shape.end(), law.input_base_shapes()[i].begin(), law.input_base_shapes()[i].end());
    inputs[law.input_names()[i]] = at::zeros(shape, at::kDouble);
  }
  return inputs;
}

int main(int argc, char ** argv)
{
  if (argc != 4)
    return 2;
  const bool derivatives = std::atoi(argv[3]);
  for (int load = 0; load < 6; ++load)
  {
    const auto start = Clock::now();
    const auto law = matlaw::eager::load_model(argv[1], argv[2]);
    const double loaded = milliseconds_since(start);
    const auto result = law.evaluate(zeros(law), {.jacobian = derivatives});
    std::printf("%.3f %.3f\n", loaded, milliseconds_since(start));
    if (!result.ok())
      return 1;
  }
  return 0;
}
