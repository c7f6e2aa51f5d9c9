// Which device a process takes when several processes run on one machine.
#pragma once

#include <cstdint>
#include <vector>

#include <c10/core/Device.h>

namespace matlaw::dispatch
{
/// Whether processes may share a device.
enum class Sharing : std::int8_t
{
  /// A device for each process
  REFUSED,
  /// In turn, when there are more processes than devices
  ALLOWED
};

/// The device of process `rank` of the `ranks` processes on this machine. Throws FatalError when there are no devices,
/// or when there are too few and sharing is refused: in every process then, not just in those that go away
/// empty-handed.
at::Device device_of_rank(int rank, int ranks, const std::vector<at::Device> & devices,
                          Sharing sharing = Sharing::REFUSED);
}
