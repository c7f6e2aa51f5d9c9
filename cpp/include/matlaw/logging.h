// What matlaw says while it works: channels, levels, and where the text goes.
//
// Silent by default but for warnings. The environment variable MATLAW_LOGS, read when libmatlaw is loaded, asks for
// more
// ("newton=debug,load=info", "all=debug"); a channel or level that there is not is said once on stderr.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace matlaw::logging
{
/// Who speaks.
enum class Channel : std::uint8_t
{
  load,
  newton,
  substep,
  dispatch,
  compile,
  host
};
constexpr std::size_t n_channels = 6;

/// How important it is. As the level of a channel: what it lets through, `off` nothing.
enum class Level : std::uint8_t
{
  off,
  error,
  warn,
  info,
  debug
};

const char * name(Channel channel) noexcept;
const char * name(Level level) noexcept;
/// Throw FatalError, listing what there is, for any other text.
Channel channel_from_text(const std::string & text);
Level level_from_text(const std::string & text);

namespace detail
{
extern std::atomic<Level> levels[n_channels];
}

/// Whether write() would do anything: one relaxed load, to be asked before a text is put together.
inline bool enabled(Channel channel, Level level) noexcept
{
  return level <= detail::levels[std::size_t(channel)].load(std::memory_order_relaxed);
}

/// Hands `text` to the sink when the channel lets it through. From any thread.
void write(Channel channel, Level level, const std::string & text);

Level level(Channel channel) noexcept;
void set_level(Channel channel, Level level) noexcept;
/// Sets the levels of an assignment list as in MATLAW_LOGS; channels that are not named keep theirs. Throws FatalError,
/// naming what there is, for a channel or level that there is not; nothing is changed then.
void set_levels(const std::string & assignments);

/// Takes a text, without the name of its channel and without a line end. Several threads may call it at once, so it
/// brings a lock of its own where it needs one. What it throws is dropped.
using Sink = std::function<void(Channel, Level, const std::string &)>;
/// Puts `sink` in the place of the one before, which may be at work on a text of another thread for a moment longer.
/// An empty one stands for the standard error: "matlaw: text" for warnings and errors, "matlaw [newton] text" for the
/// rest, a line at a time.
void set_sink(Sink sink);
}
