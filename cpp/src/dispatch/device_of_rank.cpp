#include "matlaw/dispatch/device_of_rank.h"

#include <string>

#include "matlaw/errors.h"

namespace matlaw::dispatch
{
at::Device device_of_rank(int rank, int ranks, const std::vector<at::Device> & devices, Sharing sharing)
{
  if (ranks < 1 || rank < 0 || rank >= ranks)
    throw FatalError("There is no rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                     " processes; ranks on a machine count from 0.");
  if (devices.empty())
    throw FatalError("The list of devices that the processes of this machine share is empty; name one at least.");
  const auto n = int(devices.size());
  if (ranks > n && sharing == Sharing::REFUSED)
  {
    std::string listed;
    for (const auto & device : devices)
      listed += (listed.empty() ? "" : ", ") + device.str();
    throw FatalError(std::to_string(ranks) + " processes run on this machine, but it has " + std::to_string(n) +
                     (n == 1 ? " device (" : " devices (") + listed + "). Start " + std::to_string(n) +
                     " there, or let them share devices (Sharing::ALLOWED).");
  }
  return devices[std::size_t(rank % n)];
}
}
