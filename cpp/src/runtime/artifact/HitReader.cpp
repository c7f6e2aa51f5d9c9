#include "artifact/HitReader.h"

#include <vector>

namespace matlaw::artifact
{
namespace
{
class Reader
{
public:
  explicit Reader(const std::string & text) : _text(text) {}

  std::map<std::string, std::string> read()
  {
    while (skip_blank())
      if (_text[_at] == '[')
        section();
      else
        parameter();
    return std::move(_parameters);
  }

private:
  /// Moves past white space and comments; false at the end.
  bool skip_blank()
  {
    while (_at < _text.size())
    {
      const char c = _text[_at];
      if (c == '#')
        _at = std::min(_text.find('\n', _at), _text.size());
      else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ';')
        _at++;
      else
        return true;
    }
    return false;
  }

  void section()
  {
    const auto end = _text.find_first_of("]\n", _at);
    if (end == std::string::npos || _text[end] == '\n')
    {
      _at = std::min(end, _text.size());
      return;
    }
    auto name = _text.substr(_at + 1, end - _at - 1);
    _at = end + 1;
    const auto first = name.find_first_not_of(" \t");
    name = first == std::string::npos ? "" : name.substr(first, name.find_last_not_of(" \t") - first + 1);
    if (name.empty() || name == "../")
    {
      if (!_path.empty())
        _path.pop_back();
      return;
    }
    _path.push_back(name.starts_with("./") ? name.substr(2) : name);
  }

  void parameter()
  {
    const auto start = _at;
    _at = std::min(_text.find_first_of("=[\n#", _at), _text.size());
    auto key = _text.substr(start, _at - start);
    key.erase(key.find_last_not_of(" \t\r:") + 1); // ":=" overrides
    if (_at >= _text.size() || _text[_at] != '=')
      return;
    _at = std::min(_text.find_first_not_of(" \t\r\n", _at + 1), _text.size());
    if (key.empty())
      return;
    std::string value;
    if (_at < _text.size() && (_text[_at] == '\'' || _text[_at] == '"'))
    {
      const auto close = std::min(_text.find(_text[_at], _at + 1), _text.size());
      value = _text.substr(_at + 1, close - _at - 1);
      _at = std::min(close + 1, _text.size());
    }
    else
    {
      const auto stop = std::min(_text.find_first_of(" \t\r\n#[;", _at), _text.size());
      value = _text.substr(_at, stop - _at);
      _at = stop;
    }
    std::string path;
    for (const auto & part : _path)
      path += part + "/";
    _parameters[path + key] = value;
  }

  const std::string & _text;
  std::size_t _at = 0;
  std::vector<std::string> _path;
  std::map<std::string, std::string> _parameters;
};
}

std::map<std::string, std::string> read_hit(const std::string & text)
{
  return Reader(text).read();
}
}
