#include "toy_weights.h"

#include <ATen/ATen.h>

#include "support/sha256.h"

namespace matlaw::toy
{
namespace fs = std::filesystem;
using json = nlohmann::json;

std::string safetensors(const std::vector<std::pair<std::string, std::vector<double>>> & tensors)
{
  json header = json::object();
  std::string numbers;
  for (const auto & [name, values] : tensors)
  {
    const auto begin = numbers.size();
    numbers.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(double));
    const auto shape = values.size() == 1 ? json::array() : json::array({values.size()});
    header[name] = {{"dtype", "F64"}, {"shape", shape}, {"data_offsets", {begin, numbers.size()}}};
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string bytes(8, '\0');
  for (std::size_t k = 0; k < 8; k++)
    bytes[k] = char(text.size() >> (8 * k) & 0xff);
  return bytes + text + numbers;
}

TensorMap gain_of(double gain)
{
  return {{"gain", at::full({}, gain, at::kDouble)}};
}

WeightedToy::WeightedToy()
{
  const auto bytes = safetensors({{"gain", {1.0}}});
  const auto name = "weights/" + support::sha256(bytes) + ".safetensors";
  fs::create_directories(folder() / "weights");
  write_file(folder() / name, bytes);
  edit(
      [&](json & metadata)
      {
        const auto weigh = [](json & segment, const std::string & graph, const std::string & stem)
        {
          segment["weights"] = {"gain"};
          segment["parameters"] = json::array();
          segment["graphs"][graph]["stem"] = stem + "_weighted";
        };
        auto & segments = metadata["segments"];
        weigh(segments[0], "value", "toy_gain");
        weigh(segments[0], "jvp", "toy_gain_jvp");
        for (const std::string graph : {"residual", "jacobian", "jacobian_given"})
          weigh(segments[1], graph, "toy_scaled_" + graph);
        weigh(segments[2], "value", "toy_seg2");
        weigh(segments[2], "jvp", "toy_seg2_jvp");
        metadata["parameters"] = json::array();
        metadata["param_derivatives"] = json::array();
        for (auto & pair : metadata["derivatives"])
          pair["batch_independent"] = false;
        for (auto & segment : segments)
        {
          segment["graphs"].erase("param_jvp");
          if (segment["graphs"].contains("jvp"))
            for (auto & pair : segment["graphs"]["jvp"]["pairs"])
              pair["batch_independent"] = false;
        }
        metadata["weights"] = json::array({{{"name", "gain"},
                                            {"type", "Scalar"},
                                            {"base_shape", json::array()},
                                            {"sub_batch_shape", json::array()},
                                            {"size", 1}}});
        metadata["weight_files"] = {{"float64", name}};
        metadata["files"][name] = {{"sha256", support::sha256(bytes)}, {"bytes", bytes.size()}};
      });
}

fs::path WeightedToy::file() const
{
  return folder() / read_metadata_json(folder())["weight_files"]["float64"].get<std::string>();
}

std::shared_ptr<aoti::Model> WeightedToy::load(const LoadOptions & options) const
{
  return aoti::load_model(folder().string(), "toy", options);
}
}
