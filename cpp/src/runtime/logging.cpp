#include "matlaw/logging.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "matlaw/errors.h"
#include "support/text.h"

namespace matlaw::logging
{
namespace
{
// Not strings: what logs late, as the process ends, still finds them.
constexpr const char * channel_names[n_channels] = {"load", "newton", "substep", "dispatch", "compile", "host"};
constexpr const char * level_names[] = {"off", "error", "warn", "info", "debug"};

template <typename Names>
std::vector<std::string> strings(const Names & names)
{
  return {std::begin(names), std::end(names)};
}

template <typename Value>
Value from_text(const char * what, const std::string & text, const std::vector<std::string> & names)
{
  if (const auto found = std::find(names.begin(), names.end(), text); found != names.end())
    return Value(found - names.begin());
  throw FatalError(std::string("There is no log ") + what + " '" + text + "'; there are " +
                   support::quoted_list(names) + "." + support::did_you_mean(text, names));
}

std::string stripped(const std::string & text)
{
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The parts of a list between commas, without blanks around them; empty ones are left out.
std::vector<std::string> parts(const std::string & list)
{
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin <= list.size();)
  {
    const auto end = std::min(list.find(',', begin), list.size());
    if (auto part = stripped(list.substr(begin, end - begin)); !part.empty())
      found.push_back(std::move(part));
    begin = end + 1;
  }
  return found;
}

/// The channels and the level of "newton=debug" or "all=info".
std::pair<std::vector<Channel>, Level> assignment(const std::string & text)
{
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw FatalError("'" + text +
                     "' is no log setting; expected CHANNEL=LEVEL (for instance newton=debug), with the "
                     "channels " +
                     support::quoted_list(strings(channel_names)) + " or 'all' and the levels " +
                     support::quoted_list(strings(level_names)) + ".");
  const auto channel = stripped(text.substr(0, equals));
  std::vector<Channel> channels;
  if (channel == "all")
    for (std::size_t i = 0; i < n_channels; i++)
      channels.push_back(Channel(i));
  else
    channels.push_back(channel_from_text(channel));
  return {std::move(channels), level_from_text(stripped(text.substr(equals + 1)))};
}

void apply(const std::pair<std::vector<Channel>, Level> & setting)
{
  for (const auto channel : setting.first)
    set_level(channel, setting.second);
}

/// Where texts go; nothing: the standard error. Never destroyed: other static objects may log as they go.
struct Output
{
  std::mutex mutex;
  std::shared_ptr<const Sink> sink;
};
Output & output()
{
  static auto * const the_output = new Output;
  return *the_output;
}

void to_standard_error(Channel channel, Level level, const std::string & text)
{
  const auto source = level <= Level::warn ? std::string("matlaw: ") : std::string("matlaw [") + name(channel) + "] ";
  std::cerr << source + text + "\n" << std::flush;
}

/// Reads MATLAW_LOGS as the library is loaded. A mistake in it is said, and the rest of it holds.
const struct Environment
{
  Environment() noexcept
  try
  {
    const char * text = std::getenv("MATLAW_LOGS");
    for (const auto & part : parts(text ? text : ""))
      try
      {
        apply(assignment(part));
      }
      catch (const FatalError & e)
      {
        to_standard_error(Channel::load, Level::warn, std::string("MATLAW_LOGS: ") + e.what());
      }
  }
  catch (...)
  {
  }
} environment;
}

std::atomic<Level> detail::levels[n_channels] = {Level::warn, Level::warn, Level::warn,
                                                 Level::warn, Level::warn, Level::warn};

const char * name(Channel channel) noexcept
{
  return channel_names[std::size_t(channel)];
}

const char * name(Level level) noexcept
{
  return level_names[std::size_t(level)];
}

Channel channel_from_text(const std::string & text)
{
  return from_text<Channel>("channel", text, strings(channel_names));
}

Level level_from_text(const std::string & text)
{
  return from_text<Level>("level", text, strings(level_names));
}

void write(Channel channel, Level level, const std::string & text)
{
  if (level == Level::off || !enabled(channel, level))
    return;
  try
  {
    // The lock is not held while the sink works: it may have to wait for another one (Python's), whose owner logs.
    std::shared_ptr<const Sink> sink;
    {
      const std::scoped_lock lock(output().mutex);
      sink = output().sink;
    }
    if (sink)
      (*sink)(channel, level, text);
    else
      to_standard_error(channel, level, text);
  }
  catch (...)
  {
    // Nothing that is only said may end a computation.
  }
}

Level level(Channel channel) noexcept
{
  return detail::levels[std::size_t(channel)].load(std::memory_order_relaxed);
}

void set_level(Channel channel, Level level) noexcept
{
  detail::levels[std::size_t(channel)].store(level, std::memory_order_relaxed);
}

void set_levels(const std::string & assignments)
{
  std::vector<std::pair<std::vector<Channel>, Level>> settings;
  for (const auto & part : parts(assignments))
    settings.push_back(assignment(part));
  for (const auto & setting : settings)
    apply(setting);
}

void set_sink(Sink sink)
{
  auto next = sink ? std::make_shared<const Sink>(std::move(sink)) : nullptr;
  const std::scoped_lock lock(output().mutex);
  std::swap(output().sink, next);
}
}
