// Workspaces of chunks, kept from call to call.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "aoti/ChunkWorkspace.h"

namespace matlaw::aoti
{
/// From any number of threads at once.
template <typename Real>
class WorkspaceStock
{
public:
  /// A workspace out of the stock, given back when the lease ends.
  class Lease
  {
  public:
    explicit Lease(WorkspaceStock & stock) : _stock(stock), _workspace(stock.take()) {}
    ~Lease() { _stock.give_back(std::move(_workspace)); }
    Lease(const Lease &) = delete;
    Lease & operator=(const Lease &) = delete;
    ChunkWorkspace<Real> & operator*() const { return *_workspace; }

  private:
    WorkspaceStock & _stock;
    std::unique_ptr<ChunkWorkspace<Real>> _workspace;
  };

private:
  std::unique_ptr<ChunkWorkspace<Real>> take()
  {
    const std::lock_guard lock(_mutex);
    if (_idle.empty())
      return std::make_unique<ChunkWorkspace<Real>>();
    auto workspace = std::move(_idle.back());
    _idle.pop_back();
    return workspace;
  }
  void give_back(std::unique_ptr<ChunkWorkspace<Real>> workspace)
  {
    const std::lock_guard lock(_mutex);
    _idle.push_back(std::move(workspace));
  }

  std::mutex _mutex;
  std::vector<std::unique_ptr<ChunkWorkspace<Real>>> _idle;
};
}
