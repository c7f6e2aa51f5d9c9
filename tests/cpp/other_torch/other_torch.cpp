// Preloaded into a test: makes the torch of the process say that it is release 2.12.
#include <cstdint>

extern "C" std::uint64_t aoti_torch_abi_version()
{
  return (std::uint64_t(2) << 56) | (std::uint64_t(12) << 48);
}

extern "C" void matlaw_other_torch() {}
