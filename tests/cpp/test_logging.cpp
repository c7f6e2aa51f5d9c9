#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "matlaw/errors.h"
#include "matlaw/logging.h"

using namespace matlaw;
using logging::Channel;
using logging::Level;

namespace
{
/// Every test leaves the log as it found it.
struct Logging : testing::Test
{
  ~Logging() override
  {
    logging::set_sink({});
    logging::set_levels("all=warn");
  }
};
}

TEST_F(Logging, says_warnings_on_the_standard_error_and_nothing_else)
{
  testing::internal::CaptureStderr();
  logging::write(Channel::load, Level::warn, "one");
  logging::write(Channel::load, Level::info, "two");
  logging::set_level(Channel::newton, Level::debug);
  logging::write(Channel::newton, Level::debug, "three");
  logging::set_level(Channel::load, Level::off);
  logging::write(Channel::load, Level::error, "four");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "matlaw: one\nmatlaw [newton] three\n");
}

TEST_F(Logging, levels_from_a_list)
{
  logging::set_levels(" newton=debug, load = info,");
  EXPECT_EQ(logging::level(Channel::newton), Level::debug);
  EXPECT_EQ(logging::level(Channel::load), Level::info);
  EXPECT_EQ(logging::level(Channel::host), Level::warn);
  EXPECT_TRUE(logging::enabled(Channel::load, Level::info));
  EXPECT_FALSE(logging::enabled(Channel::load, Level::debug));
  logging::set_levels("all=off");
  EXPECT_FALSE(logging::enabled(Channel::host, Level::error));
}

TEST_F(Logging, a_wrong_list_names_what_there_is_and_changes_nothing)
{
  const auto message = [](const std::string & list)
  {
    try
    {
      logging::set_levels(list);
    }
    catch (const FatalError & e)
    {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message("load=debug,newtn=debug").find("'newtn'; there are 'load', 'newton', 'substep', 'dispatch'"),
            std::string::npos);
  EXPECT_NE(message("newton=verbose").find("'off', 'error', 'warn', 'info', 'debug'"), std::string::npos);
  EXPECT_NE(message("newton").find("expected CHANNEL=LEVEL"), std::string::npos);
  EXPECT_EQ(logging::level(Channel::load), Level::warn);
}

TEST_F(Logging, a_sink_takes_texts_from_many_threads_and_may_throw)
{
  std::mutex mutex;
  std::vector<std::string> said;
  logging::set_sink(
      [&](Channel channel, Level level, const std::string & text)
      {
        const std::scoped_lock lock(mutex);
        said.push_back(std::string(name(channel)) + " " + name(level) + " " + text);
        throw std::runtime_error("the disk is full");
      });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([] { logging::write(Channel::host, Level::warn, "step"); });
  for (auto & thread : threads)
    thread.join();
  EXPECT_EQ(said, std::vector<std::string>(8, "host warn step"));
}
