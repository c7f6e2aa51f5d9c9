// The file that describes an artifact, and its values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "matlaw/errors.h"

namespace matlaw::artifact
{
inline std::string metadata_path(const std::string & folder)
{
  return folder + "/metadata.json";
}

/// A value of the file with the path to it, so that an error can say where it is.
class MetadataNode
{
public:
  MetadataNode(const nlohmann::json & value, std::string path, const std::string & file)
      : _value(value),
        _path(std::move(path)),
        _file(file)
  {
  }

  MetadataNode at(const std::string & key) const
  {
    if (!_value.is_object())
      fail("must be an object");
    const auto found = _value.find(key);
    if (found == _value.end())
      MetadataNode(_value, join(key), _file).fail("is missing");
    return {*found, join(key), _file};
  }
  std::optional<MetadataNode> find(const std::string & key) const
  {
    if (!_value.is_object())
      fail("must be an object");
    if (const auto found = _value.find(key); found != _value.end() && !found->is_null())
      return MetadataNode(*found, join(key), _file);
    return std::nullopt;
  }
  std::vector<MetadataNode> items() const
  {
    if (!_value.is_array())
      fail("must be a list");
    std::vector<MetadataNode> nodes;
    for (std::size_t i = 0; i < _value.size(); i++)
      nodes.emplace_back(_value[i], _path + "[" + std::to_string(i) + "]", _file);
    return nodes;
  }
  std::vector<std::pair<std::string, MetadataNode>> entries() const
  {
    if (!_value.is_object())
      fail("must be an object");
    std::vector<std::pair<std::string, MetadataNode>> nodes;
    for (const auto & [key, value] : _value.items())
      nodes.emplace_back(key, MetadataNode(value, join(key), _file));
    return nodes;
  }
  std::string text() const
  {
    if (!_value.is_string())
      fail("must be a string");
    return _value.get<std::string>();
  }
  std::int64_t integer() const
  {
    if (!_value.is_number_integer())
      fail("must be an integer");
    return _value.get<std::int64_t>();
  }
  bool truth() const
  {
    if (!_value.is_boolean())
      fail("must be true or false");
    return _value.get<bool>();
  }
  std::int64_t count() const
  {
    const auto n = integer();
    if (n < 0)
      fail("must not be negative");
    return n;
  }
  double number() const
  {
    if (!_value.is_number())
      fail("must be a number");
    return _value.get<double>();
  }
  std::vector<std::string> texts() const
  {
    std::vector<std::string> values;
    for (const auto & node : items())
      values.push_back(node.text());
    return values;
  }
  std::vector<std::int64_t> counts() const
  {
    std::vector<std::int64_t> values;
    for (const auto & node : items())
      values.push_back(node.count());
    return values;
  }
  std::vector<double> numbers() const
  {
    std::vector<double> values;
    for (const auto & node : items())
      values.push_back(node.number());
    return values;
  }
  [[noreturn]] void fail(const std::string & what) const
  {
    throw FatalError(_file + ": '" + _path + "' " + what +
                     ". The artifact is damaged: regenerate it with matlaw-compile.");
  }

private:
  std::string join(const std::string & key) const { return _path.empty() ? key : _path + "." + key; }

  const nlohmann::json & _value;
  std::string _path;
  const std::string & _file;
};
}
