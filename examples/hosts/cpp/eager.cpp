// A host of a law straight from its input file: no compile step, Python runs inside this program.
//
//   ./eager linear_elastic.i model
//
// The first python3 on PATH decides which environment Python uses; matlaw has to be installed there.
#include <cstdio>
#include <exception>

#include <ATen/ATen.h>

#include <matlaw/eager/load_model.h>

int main(int argc, char ** argv)
{
  if (argc != 3)
  {
    std::fprintf(stderr, "usage: %s <input file> <model>\n", argv[0]);
    return 2;
  }
  try
  {
    const auto law = matlaw::eager::load_model(argv[1], argv[2]);
    matlaw::TensorMap inputs;
    for (std::size_t i = 0; i < law.input_names().size(); ++i)
    {
      // (*B, *base), here with four rows
      std::vector<std::int64_t> shape{4};
      const auto & base = law.input_base_shapes()[i];
      shape.insert(shape.end(), base.begin(), base.end());
      inputs[law.input_names()[i]] = at::full(shape, 1e-3, at::TensorOptions().dtype(law.dtype()).device(law.device()));
    }
    const auto result = law.evaluate(inputs);
    for (const auto & [name, value] : result.outputs)
      std::printf("%s: %zd rows, the first begins with %.6f\n", name.c_str(), static_cast<ssize_t>(value.size(0)),
                  value.flatten()[0].item<double>());
    std::printf("%zu rows failed\n", result.failed_rows.size());
  }
  catch (const matlaw::Exception & e)
  {
    std::fprintf(stderr, "%s\n%s\n", e.what(),
                 e.recoverable() ? "a smaller step may succeed" : "something is set up wrongly");
    return 1;
  }
  return 0;
}
