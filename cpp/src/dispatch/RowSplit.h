// The tensors of a call as rows, from which chunks are taken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "aoti/call_checks.h"
#include "matlaw/Model.h"

namespace matlaw::dispatch
{
/// Named tensors with one flat batch axis. What is the same for all rows stays without one.
class RowSplit
{
public:
  /// `batch` has been joined with the batches of all tensors that will be added.
  explicit RowSplit(const aoti::BatchShape & batch) : _batch(batch.shape()), _rows(batch.rows()) {}

  /// (*B', *sub_batch, *base) with B' broadcastable to the batch.
  void add(const artifact::Variable & variable, const at::Tensor & value);
  /// Gives the first tensor all rows unless some tensor has them, so that results have them.
  void ensure_rows();

  bool has_rows() const;
  /// Rows [first, first + rows), on `device`.
  TensorMap chunk(std::int64_t first, std::int64_t rows, const at::Device & device) const;

private:
  struct Item
  {
    std::string name;
    at::Tensor value;
    bool per_row;
  };

  std::vector<std::int64_t> _batch;
  std::int64_t _rows;
  std::vector<Item> _items;
};

/// The results of the chunks, one after the other, as (*batch, *trailing). Each is (rows, *trailing).
at::Tensor joined(const std::vector<at::Tensor> & chunks, const std::vector<std::int64_t> & batch,
                  const std::vector<std::int64_t> & trailing);
}
