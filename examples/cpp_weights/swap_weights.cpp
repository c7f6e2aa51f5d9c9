// Swaps the weights of a law a thousand times while a thread evaluates it, and checks that every result is that of one
// version, exactly.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <matlaw/load_model.h>

namespace
{
/// Numbers for every input, different in each row.
matlaw::TensorMap some_inputs(const matlaw::Model & law, std::int64_t rows)
{
  matlaw::TensorMap inputs;
  for (std::size_t k = 0; k < law.input_names().size(); k++)
  {
    std::vector<std::int64_t> shape = {rows};
    for (const auto * part : {&law.input_sub_batch_shapes()[k], &law.input_base_shapes()[k]})
      shape.insert(shape.end(), part->begin(), part->end());
    const auto numbers = at::arange(c10::multiply_integers(shape), at::kDouble);
    inputs[law.input_names()[k]] = (0.01 * at::sin(numbers)).reshape(shape).to(law.dtype());
  }
  return inputs;
}

/// The weights that the law was loaded with, times a factor.
matlaw::TensorMap scaled(const matlaw::TensorMap & weights, double factor)
{
  matlaw::TensorMap result;
  for (const auto & [name, tensor] : weights)
    result[name] = tensor * factor;
  return result;
}

bool same_bits(const matlaw::TensorMap & a, const matlaw::TensorMap & b)
{
  for (const auto & [name, x] : a)
    if (std::memcmp(x.const_data_ptr(), b.at(name).const_data_ptr(), x.nbytes()) != 0)
      return false;
  return true;
}
}

int main(int argc, char ** argv)
{
  if (argc != 2 && argc != 3)
  {
    std::fprintf(stderr, "usage: %s <stub, artifact folder or metadata.json> [updates]\n", argv[0]);
    return 2;
  }
  try
  {
    const auto law = matlaw::load_model(argv[1], "model");
    const int updates = argc == 3 ? std::atoi(argv[2]) : 1000;
    const auto inputs = some_inputs(*law, 100);
    if (!law->weights())
      throw matlaw::FatalError("the law has no weights outside its code: compile it with --external-weights");
    for (const auto & weight : law->weight_infos())
      std::printf("%s: %lld numbers\n", weight.name.c_str(), (long long)c10::multiply_integers(weight.shape));

    // What each of four versions gives, before anything runs at the same time.
    constexpr std::size_t count = 4;
    const auto initial = law->weights();
    std::vector<matlaw::TensorMap> versions, expected;
    for (std::size_t v = 0; v < count; v++)
    {
      versions.push_back(scaled(initial->tensors, 1.0 + 0.1 * double(v)));
      law->update_weights(versions.back());
      expected.push_back(law->forward(inputs));
    }
    const auto first = law->weights()->version + 1;

    std::atomic<bool> done{false};
    std::atomic<long> calls{0}, mixed{0};
    std::thread caller(
        [&]
        {
          while (!done || calls == 0)
          {
            const auto found = law->evaluate(inputs);
            const auto v = found.weights_version < first ? count - 1 : (found.weights_version - first) % count;
            mixed += !same_bits(found.outputs, expected[v]);
            calls++;
          }
        });
    for (int k = 0; k < updates; k++)
      law->update_weights(versions[std::size_t(k) % count]);
    done = true;
    caller.join();

    // One that does not fit is refused by name, and the last one serves on.
    auto wrong = versions[0];
    wrong.begin()->second = at::full_like(wrong.begin()->second, NAN);
    try
    {
      law->update_weights(wrong);
      throw matlaw::FatalError("NaN was taken");
    }
    catch (const matlaw::FatalError & error)
    {
      std::printf("refused: %s\n", error.what());
    }
    std::printf("%d updates, %ld calls, %ld of them with mixed weights, version %llu\n", updates, calls.load(),
                mixed.load(), (unsigned long long)law->weights()->version);
    return mixed == 0 ? 0 : 1;
  }
  catch (const std::exception & error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
