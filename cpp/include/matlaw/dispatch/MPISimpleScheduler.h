// One device for each process of an MPI program. Needs <mpi.h>; libmatlaw itself holds no MPI, so this works with the
// MPI of the host, whichever that is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

#include "matlaw/dispatch/SimpleScheduler.h"
#include "matlaw/dispatch/device_of_rank.h"

namespace matlaw::dispatch
{
/// A process among those of a communicator that run on the same machine.
struct LocalRank
{
  int rank;
  int ranks;
};

namespace detail
{
/// Throws FatalError for an MPI error code. Codes come back only where the communicator's error handler lets them.
inline void check_mpi(int code, const char * call)
{
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    length = 0;
  throw FatalError(std::string("MPISimpleScheduler: ") + call + " failed: " + std::string(text, std::size_t(length)));
}
}

/// Where this process is among those of `communicator` on its machine. Collective over `communicator`. Throws
/// FatalError outside of MPI_Init ... MPI_Finalize and for MPI_COMM_NULL.
inline LocalRank local_rank(MPI_Comm communicator)
{
  int flag = 0;
  detail::check_mpi(MPI_Initialized(&flag), "MPI_Initialized");
  if (!flag)
    throw FatalError("MPISimpleScheduler: MPI is not initialised; call MPI_Init before.");
  detail::check_mpi(MPI_Finalized(&flag), "MPI_Finalized");
  if (flag)
    throw FatalError("MPISimpleScheduler: MPI is finalised already.");
  if (communicator == MPI_COMM_NULL)
    throw FatalError("MPISimpleScheduler: the communicator is MPI_COMM_NULL; pass one that this process belongs to.");
  MPI_Comm node = MPI_COMM_NULL;
  // Key 0: the order of `communicator` is kept.
  detail::check_mpi(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
                    "MPI_Comm_split_type");
  LocalRank result{0, 1};
  const int code = MPI_Comm_rank(node, &result.rank);
  const int code_of_size = MPI_Comm_size(node, &result.ranks);
  MPI_Comm_free(&node);
  detail::check_mpi(code, "MPI_Comm_rank");
  detail::check_mpi(code_of_size, "MPI_Comm_size");
  return result;
}

/// The processes on a machine take its devices in the order of their ranks. Otherwise as SimpleScheduler.
class MPISimpleScheduler final : public SimpleScheduler
{
public:
  /// Collective over `communicator`, which is used here only. Throws FatalError as local_rank(), device_of_rank() and
  /// Scheduler do.
  MPISimpleScheduler(MPI_Comm communicator, const std::vector<at::Device> & devices, std::int64_t chunk_rows = 0,
                     std::int64_t capacity = 0, Sharing sharing = Sharing::REFUSED)
      : MPISimpleScheduler(local_rank(communicator), devices, chunk_rows, capacity, sharing)
  {
  }

  const LocalRank & local() const noexcept { return _local; }

private:
  MPISimpleScheduler(const LocalRank & local, const std::vector<at::Device> & devices, std::int64_t chunk_rows,
                     std::int64_t capacity, Sharing sharing)
      : SimpleScheduler(device_of_rank(local.rank, local.ranks, devices, sharing), chunk_rows, capacity),
        _local(local)
  {
  }

  LocalRank _local;
};
}
