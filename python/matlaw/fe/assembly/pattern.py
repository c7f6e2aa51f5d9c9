"""The sparsity pattern of the unconstrained equations, computed once; values are scattered into it."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix


class SparsePattern:
    """Where each entry of each element matrix goes.

    :param dofs: degrees of freedom of each element, ``(n_elements, m)``
    :param free: numbers of the degrees of freedom to solve for, ascending
    :param n_dofs: all degrees of freedom
    """

    def __init__(self, dofs: np.ndarray, free: np.ndarray, n_dofs: int) -> None:
        self.free = free
        self.n = len(free)
        number = np.full(n_dofs, -1, np.int64)
        number[free] = np.arange(self.n)
        local = number[dofs]
        rows = np.broadcast_to(local[:, :, None], (*dofs.shape, dofs.shape[1]))
        columns = np.broadcast_to(local[:, None, :], rows.shape)
        inside = (rows >= 0) & (columns >= 0)
        keys = rows[inside] * self.n + columns[inside]
        unique, inverse = np.unique(keys, return_inverse=True)
        self.nnz = len(unique)
        target = np.full(rows.shape, self.nnz, np.int64)  # constrained rows and columns go into a last bin
        target[inside] = inverse.ravel()
        self._target = target.ravel()
        row, column = np.divmod(unique, max(self.n, 1))
        index = np.int32 if self.nnz < 2**31 else np.int64
        self._indices = column.astype(index)
        self._indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.n))]).astype(index)

    def matrix(self, elements: np.ndarray) -> csr_matrix:
        """The assembled matrix.

        :param elements: element matrices, ``(n_elements, m, m)``
        """
        data = np.bincount(self._target, weights=elements.ravel(), minlength=self.nnz + 1)[: self.nnz]
        return csr_matrix((data, self._indices, self._indptr), shape=(self.n, self.n))
