// Microseconds of a step of one point from C++.
//
//   latency <artifact> <file with the inputs of some points, doubles, point by point>
//
// Prints, for points in turn as a host has them: evaluate_point() without and with derivatives, and a call of
// evaluate() with a batch of one, likewise.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <vector>

#include <ATen/ATen.h>

#include <matlaw/aoti/Model.h>

namespace
{
template <typename Call>
double microseconds(std::size_t points, const Call & call)
{
  using Clock = std::chrono::steady_clock;
  for (std::size_t i = 0; i < points; i++)
    call(i);
  std::size_t calls = 0;
  const auto start = Clock::now();
  while (Clock::now() - start < std::chrono::milliseconds(300))
    for (std::size_t i = 0; i < points; i++, calls++)
      call(i);
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / double(calls);
}
}

int main(int, char ** arguments)
{
  matlaw::LoadOptions options;
  options.threads = 1;
  const matlaw::aoti::Model law(arguments[1], "model", options);
  std::ifstream file(arguments[2], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto * values = reinterpret_cast<const double *>(bytes.data());
  std::vector<std::int64_t> sizes;
  for (const auto & shape : law.input_base_shapes())
    sizes.push_back(std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>()));
  for (std::size_t k = 0; k < sizes.size(); k++)
    for (const auto extent : law.input_sub_batch_shapes()[k])
      sizes[k] *= extent;
  const auto width = std::accumulate(sizes.begin(), sizes.end(), std::int64_t(0));
  const auto points = bytes.size() / sizeof(double) / std::size_t(width);

  std::vector<double> outputs(1 << 16), jacobian(1 << 16);
  std::vector<matlaw::TensorMap> batches(points);
  for (std::size_t i = 0; i < points; i++)
  {
    const double * from = values + i * std::size_t(width);
    for (std::size_t k = 0; k < sizes.size(); from += sizes[k++])
    {
      std::vector<std::int64_t> shape{1};
      const auto append = [&](const auto & part) { shape.insert(shape.end(), part.begin(), part.end()); };
      append(law.input_sub_batch_shapes()[k]);
      append(law.input_base_shapes()[k]);
      batches[i][law.input_names()[k]] = at::from_blob(const_cast<double *>(from), shape, at::kDouble);
    }
  }
  const auto point = [&](double * derivatives)
  {
    return microseconds(points, [&](std::size_t i)
                        { law.evaluate_point(values + i * std::size_t(width), outputs.data(), derivatives); });
  };
  const auto batch = [&](bool derivatives)
  {
    matlaw::EvaluateOptions options;
    options.jacobian = derivatives;
    return microseconds(points, [&](std::size_t i) { law.evaluate(batches[i], options); });
  };
  std::printf("%.2f %.2f %.2f %.2f\n", point(nullptr), point(jacobian.data()), batch(false), batch(true));
}
