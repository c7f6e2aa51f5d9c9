"""Models: forward functions on typed batch-last tensors. Importing this registers every type."""

from matlaw.models import chemical_reactions, data, finite_volume, kwn, phase_field_fracture, porous_flow
from matlaw.models.common import AOTIModel, ComposedModel, ImplicitUpdate, NonlinearSystem
from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Input, Option, Output, Parameter, declarations
from matlaw.models.model import Leaf, Model
from matlaw.models.registry import register, registered
from matlaw.models.solid_mechanics import (
    crystal_plasticity,
    elasticity,
    kinematics,
    plasticity,
    traction_separation,
    viscoelasticity,
)
from matlaw.models.solvers import DenseLU, Krylov, LinearSolver, Newton, SchurComplement
from matlaw.models.variable import Variable, old

__all__ = [
    "AOTIModel",
    "ComposedModel",
    "Context",
    "DenseLU",
    "ImplicitUpdate",
    "Input",
    "Krylov",
    "Leaf",
    "LinearSolver",
    "Model",
    "Newton",
    "NonlinearSystem",
    "Option",
    "Output",
    "Parameter",
    "ParameterSlot",
    "SchurComplement",
    "Variable",
    "chemical_reactions",
    "crystal_plasticity",
    "data",
    "declarations",
    "elasticity",
    "finite_volume",
    "kinematics",
    "kwn",
    "old",
    "phase_field_fracture",
    "plasticity",
    "porous_flow",
    "register",
    "registered",
    "traction_separation",
    "viscoelasticity",
]
