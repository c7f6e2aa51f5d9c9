"""Values at the edges between cells. Source: R. J. LeVeque, Finite Volume Methods, Cambridge 2002, chapter 4."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import where
from matlaw.tensors.sub_batch import slice_last


def _left(a: Scalar, what: str) -> Scalar:
    """Values of the cells to the left of the inner edges."""
    return slice_last(a, 0, -1, what)


def _right(a: Scalar, what: str) -> Scalar:
    """Values of the cells to the right of the inner edges."""
    return slice_last(a, 1, None, what)


@register("FiniteVolumeGradient")
class FiniteVolumeGradient(Leaf):
    r"""Diffusive flux across the edges between cells.

    .. math:: g_e = -\frac{p_e}{\Delta x_e} (u_{e+} - u_{e-})

    * ``u`` (Scalar, any unit): means over the cells
    * ``grad_u`` (Scalar): :math:`g` at the inner edges
    * ``dx`` (Scalar, length): distance of the centres of neighbours
    * ``prefactor`` (Scalar): :math:`p`
    """

    u = Input(Scalar, "means over the cells")
    grad_u = Output(Scalar, "weighted gradient at the inner edges, negative")
    dx = Parameter(Scalar, "distance of the centres of neighbours (length)")
    prefactor = Parameter(Scalar, "weight", required=False, default="1.0")

    def forward(self, u: Scalar, dx: Scalar, prefactor: Scalar) -> Scalar:
        """The flux."""
        return prefactor / dx * (_left(u, "'u'") - _right(u, "'u'"))


@register("FiniteVolumeUpwindedAdvectiveFlux")
class FiniteVolumeUpwindedAdvectiveFlux(Leaf):
    r"""Advective flux across the edges between cells, from where the flow comes.

    .. math:: J_e = v_e u_{e-} \quad \text{where} \quad v_e > 0, \quad \text{else} \quad v_e u_{e+}

    * ``u`` (Scalar, any unit): means over the cells
    * ``v_edge`` (Scalar, length/time): velocity at the inner edges
    * ``flux`` (Scalar): :math:`J`
    """

    u = Input(Scalar, "means over the cells")
    v_edge = Input(Scalar, "velocity at the inner edges (length/time)")
    flux = Output(Scalar, "flux at the inner edges")

    def forward(self, u: Scalar, v_edge: Scalar) -> Scalar:
        """The flux."""
        return v_edge * where(v_edge > 0.0, _left(u, "'u'"), _right(u, "'u'"))


@register("LinearlyInterpolateToCellEdges")
class LinearlyInterpolateToCellEdges(Leaf):
    r"""Values at the inner edges, linear between the centres of the cells.

    .. math:: u_e = u_{e-} + \frac{x_e - x_{e-}}{x_{e+} - x_{e-}} (u_{e+} - u_{e-})

    * ``cell_values`` (Scalar, any unit): values at the centres
    * ``cell_centers`` (Scalar, length): the centres
    * ``cell_edges`` (Scalar, length): all edges, one more than centres
    * ``edge_values`` (Scalar): values at the inner edges
    """

    cell_values = Parameter(Scalar, "values at the centres")
    cell_centers = Parameter(Scalar, "centres of the cells (length)")
    cell_edges = Parameter(Scalar, "edges of the cells, first and last included (length)")
    edge_values = Output(Scalar, "values at the inner edges")

    def forward(self, cell_values: Scalar, cell_centers: Scalar, cell_edges: Scalar) -> Scalar:
        """The values."""
        x = slice_last(cell_edges, 1, -1, "'cell_edges'")
        low, high = _left(cell_centers, "'cell_centers'"), _right(cell_centers, "'cell_centers'")
        left, right = _left(cell_values, "'cell_values'"), _right(cell_values, "'cell_values'")
        return left + (x - low) / (high - low) * (right - left)
