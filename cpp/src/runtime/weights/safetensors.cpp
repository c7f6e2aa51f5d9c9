#include "weights/safetensors.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <nlohmann/json.hpp>

#include "artifact/file_bytes.h"
#include "matlaw/errors.h"

namespace matlaw::weights
{
namespace
{
constexpr std::size_t length_bytes = 8;
/// The format's own bound.
constexpr std::uint64_t longest_header = 100'000'000;

std::optional<at::ScalarType> dtype_of(const std::string & name)
{
  static const std::map<std::string, at::ScalarType> known = {
      {"F64", at::kDouble}, {"F32", at::kFloat}, {"F16", at::kHalf}, {"BF16", at::kBFloat16}, {"I64", at::kLong},
      {"I32", at::kInt},    {"I16", at::kShort}, {"I8", at::kChar},  {"U8", at::kByte},       {"BOOL", at::kBool}};
  const auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t header_length(const std::byte * bytes)
{
  std::uint64_t length = 0;
  for (std::size_t k = 0; k < length_bytes; k++)
    length |= std::uint64_t(bytes[k]) << (8 * k);
  return length;
}

struct Entry
{
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

class Header
{
public:
  Header(const char * text, std::uint64_t length, const std::string & path) : _path(path)
  {
    const auto root = nlohmann::json::parse(text, text + length, nullptr, false);
    if (!root.is_object())
      refuse("its header is not a JSON object");
    for (const auto & [name, value] : root.items())
    {
      if (name == "__metadata__")
        continue;
      try
      {
        auto & entry = entries.emplace_back();
        entry.name = name;
        entry.dtype = value.at("dtype").get<std::string>();
        for (const auto & extent : value.at("shape"))
          entry.shape.push_back(extent.get<std::int64_t>());
        const auto & offsets = value.at("data_offsets");
        entry.begin = offsets.at(0).get<std::uint64_t>();
        entry.end = offsets.at(1).get<std::uint64_t>();
      }
      catch (const nlohmann::json::exception &)
      {
        refuse("its entry '" + name + "' lacks dtype, shape or data_offsets");
      }
      size = std::max(size, entries.back().end);
    }
  }

  [[noreturn]] void refuse(const std::string & why) const
  {
    throw FatalError("The weight file '" + _path + "' is damaged: " + why + ".");
  }

  std::vector<Entry> entries;
  /// Bytes behind the header
  std::uint64_t size = 0;

private:
  std::string _path;
};

[[noreturn]] void truncated(const std::string & path, std::uint64_t there, std::uint64_t expected)
{
  throw FatalError("The weight file '" + path + "' is truncated: it has " + std::to_string(there) + " bytes of " +
                   std::to_string(expected) + ".");
}
}

std::map<std::string, at::Tensor> read_safetensors(const FileView & view, const std::string & path)
{
  if (view.size < length_bytes)
    truncated(path, view.size, length_bytes);
  const auto length = header_length(view.data);
  if (length > longest_header)
    throw FatalError("'" + path + "' is not a safetensors file: it does not begin with the length of a header.");
  const auto start = length_bytes + length;
  if (view.size < start)
    truncated(path, view.size, start);
  const Header header(reinterpret_cast<const char *>(view.data) + length_bytes, length, path);
  if (view.size < start + header.size)
    truncated(path, view.size, start + header.size);
  std::map<std::string, at::Tensor> tensors;
  for (const auto & entry : header.entries)
  {
    const auto dtype = dtype_of(entry.dtype);
    if (!dtype)
      header.refuse("tensor '" + entry.name + "' has the type '" + entry.dtype + "', which is not known here");
    std::uint64_t bytes = c10::elementSize(*dtype);
    const auto alignment = bytes;
    for (const auto extent : entry.shape)
    {
      if (extent < 0 || (extent > 0 && bytes > header.size / std::uint64_t(extent)))
        header.refuse("tensor '" + entry.name + "' has a shape that does not fit its place");
      bytes *= std::uint64_t(extent);
    }
    if (entry.begin > entry.end || entry.end - entry.begin != bytes)
      header.refuse("tensor '" + entry.name + "' has a shape that does not fit its place");
    const auto * place = view.data + start + entry.begin;
    const auto options = at::TensorOptions().dtype(*dtype);
    if (reinterpret_cast<std::uintptr_t>(place) % alignment == 0)
      tensors[entry.name] =
          at::from_blob(const_cast<std::byte *>(place), entry.shape, [owner = view.owner](void *) {}, options);
    else
    {
      tensors[entry.name] = at::empty(entry.shape, options);
      std::memcpy(tensors[entry.name].mutable_data_ptr(), place, bytes);
    }
  }
  return tensors;
}

std::string incomplete(const std::string & path)
{
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file.is_open())
    throw FatalError("Cannot read '" + path + "'.");
  const auto size = std::uint64_t(file.tellg());
  const auto text = [&](std::uint64_t expected)
  { return "it has " + std::to_string(size) + " bytes of " + std::to_string(expected); };
  if (size < length_bytes)
    return text(length_bytes);
  file.seekg(0);
  std::byte first[length_bytes] = {};
  file.read(reinterpret_cast<char *>(first), length_bytes);
  const auto length = header_length(first);
  if (length > longest_header)
    return {}; // complete as far as one can tell; whoever reads it says what is wrong
  if (size < length_bytes + length)
    return text(length_bytes + length);
  std::string header(length, '\0');
  file.read(header.data(), std::streamsize(length));
  try
  {
    const auto whole = length_bytes + length + Header(header.data(), length, path).size;
    return size < whole ? text(whole) : std::string();
  }
  catch (const FatalError &)
  {
    return {};
  }
}
}
