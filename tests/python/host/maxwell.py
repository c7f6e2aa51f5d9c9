"""A law small enough to check by hand: a Maxwell element per component, with a strain that it does not survive."""

from __future__ import annotations

import torch

from matlaw import Evaluation, Status

STIFFNESS = 100.0
RELAXATION = 0.5
LIMIT = 10.0


class Maxwell:
    """Stress s' = E e' - s / tau by the implicit Euler rule; the old stress, strain and time are state.

    Rows whose strain exceeds LIMIT fail.
    """

    name = "maxwell"
    input_names = ("strain", "t", "strain~1", "t~1", "stress~1")
    output_names = ("stress",)
    input_base_shapes = ((6,), (), (6,), (), (6,))
    output_base_shapes = ((6,),)
    input_sub_batch_shapes = ((), (), (), (), ())
    output_sub_batch_shapes = ((),)
    input_types = ("SR2", "Scalar", "SR2", "Scalar", "SR2")
    output_types = ("SR2",)
    device = torch.device("cpu")
    derivative_pairs = (("stress", "strain"),)

    def __init__(self, dtype: torch.dtype = torch.float64, initial: float = 0.0) -> None:
        from matlaw.runtime import StatePair

        self.dtype = dtype
        self.calls = 0
        self.state_pairs = [
            StatePair("stress", "stress~1", "state", (initial,) * 6),
            StatePair("strain", "strain~1", "force", (0.0,) * 6),
            StatePair("t", "t~1", "force", (0.0,)),
        ]

    def evaluate(self, inputs: dict[str, torch.Tensor], jacobian: bool = False) -> Evaluation:
        """Outputs and verdict; the tangent does not depend on the row when all time steps are equal."""
        self.calls += 1
        for name, value in inputs.items():
            assert value.dtype == self.dtype, name
        dt = (inputs["t"] - inputs["t~1"]).unsqueeze(-1)
        factor = 1.0 / (1.0 + dt / RELAXATION)
        stress = factor * (inputs["stress~1"] + STIFFNESS * (inputs["strain"] - inputs["strain~1"]))
        failed = inputs["strain"].abs().amax(-1) > LIMIT
        stress[failed] = torch.nan
        n = len(failed)
        blocks = {}
        if jacobian:
            block = STIFFNESS * torch.eye(6, dtype=self.dtype)
            same = bool((factor == factor[:1]).all()) and n > 0
            blocks = {"stress": {"strain": factor[0, 0] * block if same else factor.unsqueeze(-1) * block}}
        return Evaluation(
            outputs={"stress": stress},
            status=torch.where(failed, int(Status.NOT_CONVERGED), int(Status.CONVERGED)).to(torch.int8),
            iterations=torch.ones(n, dtype=torch.int32),
            substeps=(~failed).to(torch.int32),
            dt_factor=torch.where(failed, 0.5, 2.0).to(torch.float64),
            jacobian=blocks,
            failed_rows=torch.nonzero(failed).flatten().tolist(),
        )
