// How the matrix of a row's linear system is taken apart by its solver.
#pragma once

#include <cstdint>
#include <vector>

namespace matlaw::solve
{
/// A square part of a matrix: as many rows as columns, by number, ascending.
struct EliminationBlock
{
  std::vector<std::int64_t> rows, columns;
};

/// A square block on the diagonal of a matrix.
struct DiagonalBlock
{
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

/// Empty for one dense matrix without a preconditioner.
struct LinearStructure
{
  /// Of a direct solve: these blocks are eliminated first, then the Schur complement that they leave is solved. They
  /// share no rows and no columns, and the matrix is zero where the rows of one meet the columns of another.
  std::vector<EliminationBlock> elimination;
  /// Of a Krylov solve: the matrix M that preconditions is made of these blocks of A. They share no rows.
  std::vector<DiagonalBlock> preconditioner;

  /// Number of entries of M: the blocks one after the other, each row-major.
  std::int64_t preconditioner_size() const
  {
    std::int64_t size = 0;
    for (const auto & block : preconditioner)
      size += block.size * block.size;
    return size;
  }
};
}
