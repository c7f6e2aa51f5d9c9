// What the UMAT library remembers of points.
#include <vector>

#include <gtest/gtest.h>

#include "PointMemory.h"

namespace matlaw::umat
{
namespace
{
constexpr std::size_t plenty = 1 << 20;

std::vector<double> key(double x)
{
  return {1.0, x};
}
}

TEST(PointMemory, returns_what_was_kept_for_the_same_key)
{
  PointMemory memory(2, 1, plenty);
  const int law = 0;
  for (int point = 0; point < 1000; point++)
  {
    ASSERT_EQ(memory.find(7, point, &law, key(point).data()), nullptr);
    const double result = 3.0 * point;
    memory.keep(&result);
  }
  // In order, backwards, and in leaps.
  for (int k = 0; k < 3000; k++)
  {
    const int point = k < 1000 ? k : k < 2000 ? 1999 - k : k * 37 % 1000;
    const double * known = memory.find(7, point, &law, key(point).data());
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(*known, 3.0 * point);
  }
}

TEST(PointMemory, another_key_law_point_or_element_is_not_known)
{
  PointMemory memory(2, 1, plenty);
  const int law = 0, other = 0;
  const double result = 5.0;
  const auto fill = [&]
  {
    if (!memory.find(1, 1, &law, key(2).data()))
      memory.keep(&result);
  };
  fill();
  EXPECT_NE(memory.find(1, 1, &law, key(2).data()), nullptr);
  EXPECT_EQ(memory.find(1, 2, &law, key(2).data()), nullptr);
  EXPECT_EQ(memory.find(2, 1, &law, key(2).data()), nullptr);
  EXPECT_EQ(memory.find(1, 1, &other, key(2).data()), nullptr);
  fill();
  EXPECT_EQ(memory.find(1, 1, &law, key(2.0000000000000004).data()), nullptr);
  // The last call has kept nothing, as one that fails: it is not known, and neither is the one before it.
  EXPECT_EQ(memory.find(1, 1, &law, key(2.0000000000000004).data()), nullptr);
  EXPECT_EQ(memory.find(1, 1, &law, key(2).data()), nullptr);
}

TEST(PointMemory, points_without_room_are_not_known)
{
  PointMemory memory(2, 1, 100 * (3 * sizeof(double) + 16));
  const int law = 0;
  for (int sweep = 0; sweep < 2; sweep++)
    for (int point = 0; point < 150; point++)
    {
      const double * known = memory.find(1, point, &law, key(point).data());
      EXPECT_EQ(known != nullptr, sweep == 1 && point < 100) << point;
      if (!known)
      {
        const double result = point;
        memory.keep(&result);
      }
    }
}
}
