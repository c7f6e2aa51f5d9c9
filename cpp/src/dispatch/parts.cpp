#include "parts.h"

#include <ATen/core/Tensor.h>

namespace matlaw::dispatch
{
namespace
{
/// Of tensors that may be undefined in all parts.
template <typename Of>
at::Tensor joined_rows(const Parts<Evaluation> & parts, const std::vector<std::int64_t> & batch, const Of & of)
{
  std::vector<at::Tensor> chunks;
  for (const auto & [first, part] : parts)
  {
    const at::Tensor & rows = of(part.result);
    if (!rows.defined())
      return {};
    // A chunk has one batch axis
    chunks.push_back(rows);
  }
  return joined(chunks, batch, chunks.front().sizes().slice(1).vec());
}
}

void join_verdicts(const Parts<Evaluation> & parts, const std::vector<std::int64_t> & batch, Evaluation & whole)
{
  for (const auto member : {&Evaluation::status, &Evaluation::iterations, &Evaluation::substeps, &Evaluation::dt_factor,
                            &Evaluation::residual, &Evaluation::reason, &Evaluation::place})
    whole.*member = joined_rows(parts, batch, [&](const Evaluation & e) -> const at::Tensor & { return e.*member; });
  const auto & one = parts.begin()->second.result.history;
  for (std::size_t k = 0; k < one.size(); k++)
    whole.history.push_back(
        {one[k].unknowns,
         joined_rows(parts, batch, [&](const Evaluation & e) -> const at::Tensor & { return e.history[k].residual; }),
         joined_rows(parts, batch, [&](const Evaluation & e) -> const at::Tensor & { return e.history[k].step; })});
  for (const auto & [first, part] : parts)
    for (const auto row : part.result.failed_rows)
      whole.failed_rows.push_back(first + row);
}
}
