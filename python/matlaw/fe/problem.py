"""An input file made into a problem: mesh, variables, laws, conditions, and the residual they give."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from matlaw.fe.assembly import Discretisation, SparsePattern
from matlaw.fe.auxiliary.kernels import AuxKernel
from matlaw.fe.bcs.conditions import BoundaryCondition, LoadCondition, NodalCondition
from matlaw.fe.bcs.constraints import Constraints
from matlaw.fe.functions.functions import Function
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import check_fields, create
from matlaw.fe.input.tree import Block
from matlaw.fe.law import Law, LawFailedError, LawPoints
from matlaw.fe.materials import kernels as _kernels  # noqa: F401  (registers them)
from matlaw.fe.materials import strains as _strains  # noqa: F401
from matlaw.fe.materials.shorthand import expand
from matlaw.fe.mesh import HexMesh, build_mesh
from matlaw.fe.mesh.selection import boundaries_of
from matlaw.fe.postprocessors.postprocessors import Postprocessor
from matlaw.input.suggestion import closest

_VARIABLE = {
    "order": Parameter("string", "FIRST", choices=("FIRST",)),
    "family": Parameter("string", "LAGRANGE", choices=("LAGRANGE",)),
    "block": Parameter("strings", ignored=True),
    "scaling": Parameter("reals", ignored=True),
}
_AUX_VARIABLE = {
    "order": Parameter("string", "FIRST", choices=("FIRST", "CONSTANT")),
    "family": Parameter("string", "LAGRANGE", choices=("LAGRANGE", "MONOMIAL")),
    "block": Parameter("strings", ignored=True),
}


@dataclass
class AuxiliaryVariable:
    """A field that is computed, not solved for.

    :ivar nodal: one value per node, else one per element
    :ivar values: zero before the first step
    """

    name: str
    nodal: bool
    values: np.ndarray


class BlockPoints(LawPoints):
    """A law at the quadrature points of the elements that it is for.

    :ivar elements: numbers of the elements, ascending
    """

    def __init__(self, law: Law, elements: np.ndarray, points_per_element: int, start: float) -> None:
        super().__init__(law, len(elements) * points_per_element, start)
        self.elements = elements


@dataclass
class Timing:
    """Seconds spent in the parts of a run (the law's are with the laws)."""

    strain: float = 0.0
    assembly: float = 0.0
    solve: float = 0.0
    output: float = 0.0
    total: float = 0.0
    began: float = field(default_factory=clock.perf_counter)


class Problem:
    """Small-strain equilibrium with laws from ``[Matlaw]``.

    :param root: the input
    :param folder: folder that file names in it are relative to
    :raises InputFileError: the input is incomplete or inconsistent

    :ivar u: displacements, ``(n_dofs,)``, node by node
    :ivar variables: names of the three displacements
    :ivar auxiliary: auxiliary variables by name
    :ivar laws: the laws with their points
    """

    def __init__(self, root: Block, folder: Path, start_time: float = 0.0) -> None:
        self.root = root
        self.timing = Timing()
        self.start_time = start_time
        self.time, self.dt, self.newton_iterations, self.failed_steps = start_time, 0.0, 0, 0
        expand(root)
        self.shared = root.blocks.get("GlobalParams")
        if "Mesh" not in root.blocks:
            raise root.error("the block [Mesh] is missing")
        self.mesh: HexMesh = build_mesh(root.blocks["Mesh"], self.shared)
        self.variables = self._read_variables()
        locking = self._read_strains()
        self.save_in = self._read_kernels(locking)
        try:
            self.discretisation = Discretisation(self.mesh, locking)
        except ValueError as error:
            raise root.blocks["Mesh"].error(str(error)) from error
        self.functions: dict[str, Function] = self._objects("Functions")
        for function in self.functions.values():
            function.link(self.functions)
        self.laws = self._read_laws(folder)
        self._read_conditions()
        self.u = np.zeros(self.discretisation.n_dofs)
        self.internal = np.zeros(self.discretisation.n_dofs)
        shape = self.discretisation.weights.shape
        self._stress = np.zeros((*shape, 6))
        self._tangent = np.zeros((*shape, 6, 6))
        self.pattern = SparsePattern(self.discretisation.dofs, self.constraints.free, self.discretisation.n_dofs)
        self.auxiliary = self._read_auxiliary()
        self.aux_kernels: dict[str, AuxKernel] = self._objects("AuxKernels")
        for kernel in self.aux_kernels.values():
            name = kernel.values["variable"]
            if name not in self.auxiliary or self.auxiliary[name].nodal:
                known = [name for name, variable in self.auxiliary.items() if not variable.nodal]
                raise kernel.values.error(
                    f"no auxiliary variable of this name with order = CONSTANT, family = MONOMIAL; "
                    f"there are: {', '.join(known) or 'none'}",
                    "variable",
                )
            kernel.check(self)
        self._aux_elements = {name: self.elements_of(kernel.values) for name, kernel in self.aux_kernels.items()}
        for name, targets in self.save_in.items():
            for target, item in targets:
                if target not in self.auxiliary or not self.auxiliary[target].nodal:
                    raise item.error(f"save_in of '{name}': no nodal auxiliary variable '{target}'", "save_in")
        self.postprocessors: dict[str, Postprocessor] = self._objects("Postprocessors")
        for postprocessor in self.postprocessors.values():
            postprocessor.link(self)

    # reading the input

    def _objects(self, system: str) -> dict[str, Any]:
        block = self.root.blocks.get(system)
        if block is None:
            return {}
        return {name: create(system, below, self.shared) for name, below in block.blocks.items()}

    def _read_variables(self) -> list[str]:
        block = self.root.blocks.get("Variables")
        if block is None:
            raise self.root.error("the block [Variables] is missing (or add_variables = true in the physics block)")
        for below in block.blocks.values():
            check_fields(below, _VARIABLE, "a displacement variable")
            Values(below, _VARIABLE)
        names = list(block.blocks)
        if len(names) != 3:
            raise block.error(f"three displacement variables are needed; there are {len(names)}: {', '.join(names)}")
        return names

    def _read_strains(self) -> bool:
        materials = self._objects("Materials")
        where = self.root.blocks.get("Materials", self.root)
        covered = np.zeros(self.mesh.n_elements, int)
        locking = set()
        for material in materials.values():
            if material.values["displacements"] != self.variables:
                raise material.values.error(
                    f"expected the displacements in the order {' '.join(self.variables)}", "displacements"
                )
            covered[self.elements_of(material.values)] += 1
            locking.add(material.values["volumetric_locking_correction"])
        if np.any(covered != 1):
            number = int(self.mesh.block_ids[np.flatnonzero(covered != 1)[0]])
            what = "no strain material" if np.any(covered == 0) else "more than one strain material"
            raise where.error(f"block '{self.mesh.block_names.get(number, number)}' has {what} (ComputeSmallStrain)")
        if len(locking) > 1:
            raise where.error("volumetric_locking_correction must be the same in all blocks")
        return locking.pop()

    def _read_kernels(self, locking: bool) -> dict[str, list[tuple[str, Values]]]:
        kernels = self._objects("Kernels")
        where = self.root.blocks.get("Kernels", self.root)
        covered = {variable: np.zeros(self.mesh.n_elements, int) for variable in self.variables}
        save_in: dict[str, list[tuple[str, Values]]] = {}
        for kernel in kernels.values():
            values = kernel.values
            variable, component = values["variable"], values["component"]
            if variable not in self.variables:
                raise values.error(f"no such variable; variables: {', '.join(self.variables)}", "variable")
            if self.variables.index(variable) != component:
                raise values.error(f"'{variable}' is component {self.variables.index(variable)}", "component")
            if values["displacements"] != self.variables:
                raise values.error(
                    f"expected the displacements in the order {' '.join(self.variables)}", "displacements"
                )
            if values["volumetric_locking_correction"] != locking:
                raise values.error("volumetric_locking_correction must be the same as in the strain material")
            covered[variable][self.elements_of(values)] += 1
            save_in.setdefault(variable, []).extend((target, values) for target in values["save_in"])
        for variable, count in covered.items():
            if np.any(count != 1):
                what = "no" if np.any(count == 0) else "more than one"
                raise where.error(f"variable '{variable}' has {what} StressDivergenceTensors kernel on some elements")
        return save_in

    def _read_laws(self, folder: Path) -> list[BlockPoints]:
        block = self.root.blocks.get("Matlaw")
        if block is None or not block.blocks:
            raise (block or self.root).error("no law: add [Matlaw] with an entry [name] input = '...' []")
        if block.fields:
            raise next(iter(block.fields.values())).error("[Matlaw] holds entries, [Matlaw/name], not parameters")
        taken = np.zeros(self.mesh.n_elements, bool)
        points = []
        for below in block.blocks.values():
            law = Law(below, folder)
            elements = self.elements_of(law.values)
            if np.any(taken[elements]):
                number = int(self.mesh.block_ids[elements[taken[elements]][0]])
                raise below.error(
                    f"block '{self.mesh.block_names.get(number, number)}' already has a law; "
                    "restrict the entries with 'block'"
                )
            taken[elements] = True
            points.append(BlockPoints(law, elements, self.discretisation.n_points, self.start_time))
        if not np.all(taken):
            number = int(self.mesh.block_ids[np.flatnonzero(~taken)[0]])
            raise block.error(f"block '{self.mesh.block_names.get(number, number)}' has no law")
        return points

    def _read_conditions(self) -> None:
        conditions: dict[str, BoundaryCondition] = self._objects("BCs")
        for condition in conditions.values():
            condition.link(self.variables, self.discretisation, self.functions)
        nodal = [condition for condition in conditions.values() if isinstance(condition, NodalCondition)]
        self._loads = [condition for condition in conditions.values() if isinstance(condition, LoadCondition)]
        self.constraints = Constraints(nodal, self.discretisation.n_dofs)

    def _read_auxiliary(self) -> dict[str, AuxiliaryVariable]:
        block = self.root.blocks.get("AuxVariables")
        result = {}
        for name, below in (block.blocks if block is not None else {}).items():
            check_fields(below, _AUX_VARIABLE, "an auxiliary variable")
            values = Values(below, _AUX_VARIABLE)
            nodal = values["family"].upper() == "LAGRANGE"
            if nodal != (values["order"].upper() == "FIRST"):
                raise below.error("available: FIRST LAGRANGE (nodes) and CONSTANT MONOMIAL (elements)")
            if name in self.variables:
                raise below.error("there is a variable of the same name")
            count = self.mesh.n_nodes if nodal else self.mesh.n_elements
            result[name] = AuxiliaryVariable(name, nodal, np.zeros(count))
        return result

    def elements_of(self, values: Values) -> np.ndarray:
        """Elements of the blocks that ``block`` lists; all without it."""
        if not values.get("block"):
            return np.arange(self.mesh.n_elements)
        numbers = []
        for text in values["block"]:
            number = self.mesh.block_id(text)
            if number is None:
                blocks = self.mesh.blocks()
                raise values.error(f"no block '{text}'; blocks: {', '.join(blocks)}{closest(text, blocks)}", "block")
            numbers.append(number)
        return np.flatnonzero(np.isin(self.mesh.block_ids, numbers))

    def nodes_of(self, values: Values) -> np.ndarray:
        """Nodes of the boundaries that ``boundary`` lists; all without it."""
        if not values.get("boundary"):
            return np.arange(self.mesh.n_nodes)
        names = boundaries_of(values, self.mesh)
        return np.unique(np.concatenate([self.mesh.boundary_nodes(name) for name in names]))

    # the equations

    def load(self, t: float) -> np.ndarray:
        """External nodal forces at time ``t``, ``(n_dofs,)``."""
        total = np.zeros(self.discretisation.n_dofs)
        for condition in self._loads:
            total += condition.force(t)
        return total

    def evaluate(self, u: np.ndarray, t: float, tangent: bool = True) -> np.ndarray:
        """Evaluate every law at displacements ``u`` and assemble the internal forces.

        :returns: ``(n_dofs,)``
        :raises LawFailedError: a law failed at some points
        """
        timing = self.timing
        began = clock.perf_counter()
        strain = self.discretisation.strain(u)
        timing.strain += clock.perf_counter() - began
        failed: LawFailedError | None = None
        for points in self.laws:
            whole = len(points.elements) == self.mesh.n_elements
            local = strain if whole else strain[points.elements]
            try:
                points.evaluate(local.reshape(-1, 6), t, tangent)
            except LawFailedError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        began = clock.perf_counter()
        for points in self.laws:
            shape = (len(points.elements), self.discretisation.n_points)
            whole = len(points.elements) == self.mesh.n_elements
            stress = points.stress().reshape(*shape, 6)
            if whole:
                self._stress = stress
            else:
                self._stress[points.elements] = stress
            if tangent:
                matrix = points.tangent().reshape(*shape, 6, 6)
                if whole:
                    self._tangent = matrix
                else:
                    self._tangent[points.elements] = matrix
        force = self.discretisation.internal_force(self._stress)
        timing.assembly += clock.perf_counter() - began
        return force

    def stiffness(self) -> tuple[csr_matrix, np.ndarray]:
        """The tangent matrix of the free degrees of freedom at the last evaluation, and its element matrices."""
        began = clock.perf_counter()
        elements = self.discretisation.stiffness(self._tangent)
        matrix = self.pattern.matrix(elements)
        self.timing.assembly += clock.perf_counter() - began
        return matrix, elements

    def commit(self) -> None:
        """The step was accepted."""
        for points in self.laws:
            points.commit()
        for postprocessor in self.postprocessors.values():
            postprocessor.commit()

    def revert(self) -> None:
        """The step was rejected: every state is as it was before."""
        for points in self.laws:
            points.revert()
        for postprocessor in self.postprocessors.values():
            postprocessor.revert()

    def law_seconds(self) -> float:
        """Time spent in the laws."""
        return sum(points.seconds for points in self.laws)

    # fields

    def nodal_field(self, name: str) -> np.ndarray:
        """A displacement component or a nodal auxiliary variable, ``(n_nodes,)``."""
        if name in self.variables:
            return self.u[self.variables.index(name) :: 3]
        return self.auxiliary[name].values

    def tensor_names(self) -> list[str]:
        """Symmetric tensors that auxiliary kernels can use."""
        names = ["stress", "total_strain", "mechanical_strain"]
        for points in self.laws:
            names += [name for name, kind in points.law.outputs.items() if kind == "SR2" and name != points.law.stress]
        return list(dict.fromkeys(names))

    def scalar_names(self) -> list[str]:
        """Scalar outputs of the laws."""
        names = [name for points in self.laws for name, kind in points.law.outputs.items() if kind == "Scalar"]
        return list(dict.fromkeys(names))

    def tensor(self, name: str) -> np.ndarray:
        """A symmetric tensor at quadrature points, ``(n_elements, n_points, 6)``; zero where a law does not have it."""
        if name in ("total_strain", "mechanical_strain"):
            return self.discretisation.strain(self.u)
        if name == "stress":
            return np.asarray(self._stress)
        return self._gather(name, (6,))

    def scalar(self, name: str) -> np.ndarray:
        """A scalar output at quadrature points, ``(n_elements, n_points)``; zero where a law does not have it."""
        return self._gather(name, ())

    def _gather(self, name: str, base: tuple[int, ...]) -> np.ndarray:
        result = np.zeros((*self.discretisation.weights.shape, *base))
        for points in self.laws:
            if name in points.law.outputs:
                values = points.output(name)
                result[points.elements] = values.reshape(len(points.elements), self.discretisation.n_points, *base)
        return result

    def update_auxiliary(self) -> None:
        """Fill the auxiliary variables from the accepted step."""
        for name, kernel in self.aux_kernels.items():
            average = self.discretisation.element_average(kernel.point_values(self))
            elements = self._aux_elements[name]
            self.auxiliary[kernel.values["variable"]].values[elements] = average[elements]
        saved: dict[str, np.ndarray] = {}
        for variable, targets in self.save_in.items():
            residual = self.internal[self.variables.index(variable) :: 3]
            for target, _ in targets:
                saved[target] = saved.get(target, np.zeros(self.mesh.n_nodes)) + residual
        for target, values in saved.items():
            self.auxiliary[target].values = values

    def postprocess(self) -> dict[str, float]:
        """Values of the postprocessors on the accepted step."""
        return {name: postprocessor.value(self) for name, postprocessor in self.postprocessors.items()}
