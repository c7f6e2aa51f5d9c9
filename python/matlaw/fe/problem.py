"""An input file made into a problem: mesh, variables, laws, conditions, and the residual they give."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from matlaw.fe.assembly import SidePoints, SparsePattern, Unknowns, VolumePoints
from matlaw.fe.assembly.elements import ElementArrays, Trial
from matlaw.fe.auxiliary.kernels import AuxKernel
from matlaw.fe.bcs.conditions import BoundaryCondition, LoadCondition, NodalCondition
from matlaw.fe.bcs.constraints import Constraints
from matlaw.fe.functions.functions import Function
from matlaw.fe.input.parameters import Values
from matlaw.fe.input.registry import create
from matlaw.fe.input.tree import Block
from matlaw.fe.law import Law, LawFailedError, LawPoints, StepFailedError
from matlaw.fe.mapping import complete_sources, read_sources
from matlaw.fe.materials.properties import Properties, PropertyMaterial
from matlaw.fe.materials.shorthand import expand
from matlaw.fe.materials.strains import StrainMaterial
from matlaw.fe.mesh import Mesh, build_mesh
from matlaw.fe.mesh.selection import elements_of, nodes_of
from matlaw.fe.physics import finite_strain
from matlaw.fe.physics.kernels import Kernel, ScalarKernel, StressDivergence
from matlaw.fe.physics.mechanics import Mechanics, Response, law_input
from matlaw.fe.postprocessors.postprocessors import Postprocessor
from matlaw.fe.variables import apply_initial_conditions, read_auxiliary, read_variables


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
    """Equilibrium and conduction with laws from ``[Matlaw]``.

    :param root: the input
    :param folder: folder that file names in it are relative to
    :raises InputFileError: the input is incomplete or inconsistent

    :ivar u: values of the variables, ``(n_dofs,)``; see :class:`Unknowns`
    :ivar points: the quadrature points of the elements
    :ivar mechanics: the displacements; None without kernels of the balance of momentum
    :ivar auxiliary: auxiliary variables by name
    :ivar laws: the laws with their points
    """

    def __init__(self, root: Block, folder: Path, start_time: float = 0.0) -> None:
        self.root = root
        self.timing = Timing()
        self.start_time = start_time
        self.time, self.dt, self.newton_iterations, self.failed_steps = start_time, 0.0, 0, 0
        self.linear_iterations = 0
        if "Mesh" not in root.blocks:
            raise root.error("the block [Mesh] is missing")
        self.shared = root.blocks.get("GlobalParams")
        self.mesh: Mesh = build_mesh(root.blocks["Mesh"], self.shared)
        self.axisymmetric = _axisymmetric(root)
        expand(root, self.mesh.type.order, self.axisymmetric)
        if self.axisymmetric and self.mesh.dim != 2:
            raise root.blocks["Mesh"].error("coord_type = RZ needs a mesh in two dimensions")
        try:
            self.points = VolumePoints(self.mesh, self.axisymmetric)
        except ValueError as error:
            raise root.blocks["Mesh"].error(str(error)) from error
        self.unknowns = Unknowns(self.mesh, read_variables(root.blocks.get("Variables"), self.mesh, root))
        self.functions: dict[str, Function] = self._objects("Functions")
        for function in self.functions.values():
            function.link(self.functions)
        self.auxiliary = read_auxiliary(root.blocks.get("AuxVariables"), self.mesh, self.unknowns.variables)
        apply_initial_conditions(
            *(root.blocks.get("ICs"), self.shared, self.mesh, self.unknowns.variables, self.auxiliary),
            *(self.functions, start_time),
        )
        self.u = np.zeros(self.unknowns.n_dofs)
        for name, variable in self.unknowns.variables.items():
            self.unknowns.of(self.u, name)[:] = variable.initial
        self.u[~self.unknowns.present] = 0.0
        self.internal = np.zeros_like(self.u)
        self.mechanics: Mechanics | None = None
        materials = self._objects("Materials")
        self.kernels: list[Kernel] = list(self._objects("Kernels").values())
        self._read_mechanics([m for m in materials.values() if isinstance(m, StrainMaterial)])
        self.reported: dict[str, float] = {}
        givers = [material for material in materials.values() if isinstance(material, PropertyMaterial)]
        self.given_properties = [name for material in givers for name in material.link(self)]
        self.laws = self._read_laws(folder)
        self.properties = Properties(self, givers)
        self._link_kernels()
        self._sides: dict[str, SidePoints] = {}
        self._displaced: tuple[np.ndarray, VolumePoints] | None = None
        self._read_conditions()
        self.pattern = SparsePattern(self.unknowns.element_dofs, self.constraints.free, self.unknowns.n_dofs)
        self._allocate()
        self._read_outputs()

    # reading the input

    def _objects(self, system: str) -> dict[str, Any]:
        block = self.root.blocks.get(system)
        if block is None:
            return {}
        return {name: create(system, below, self.shared) for name, below in block.blocks.items()}

    def _read_mechanics(self, strains: list[StrainMaterial]) -> None:
        kernels = [kernel for kernel in self.kernels if isinstance(kernel, StressDivergence)]
        if not kernels:
            if strains:
                raise strains[0].values.error("there is a strain, but no kernel of the balance of momentum")
            return
        displacements = list(kernels[0].values["displacements"])
        if len(displacements) != self.mesh.dim:
            raise kernels[0].values.error(
                f"{len(displacements)} displacements in {self.mesh.dim} dimensions", "displacements"
            )
        for name in displacements:
            if name not in self.unknowns.variables:
                raise kernels[0].values.error(
                    f"no variable '{name}'; variables: {', '.join(self.unknowns.names)}", "displacements"
                )
        if len({self.unknowns.variables[name].order for name in displacements}) > 1:
            raise kernels[0].values.error("all displacements must be of the same order", "displacements")
        for thing in [*kernels, *strains]:
            if list(thing.values["displacements"]) != displacements:
                raise thing.values.error(f"expected the displacements {' '.join(displacements)}", "displacements")
        large = {bool(kernel.values.get("large_kinematics", False)) for kernel in kernels}
        large |= {strain.large for strain in strains}
        if len(large) > 1:
            raise kernels[0].values.error("large_kinematics must be the same in all kernels and strain materials")
        locking = {bool(kernel.values.get("volumetric_locking_correction", False)) for kernel in kernels}
        locking |= {strain.locking for strain in strains}
        if len(locking) > 1:
            raise kernels[0].values.error(
                "volumetric_locking_correction must be the same in all kernels and strain materials"
            )
        self._momentum = self._momentum_elements(kernels, displacements)
        self._check_strains(strains)
        self.mechanics = Mechanics(self.points, self.unknowns, displacements, large.pop(), locking.pop())

    def _momentum_elements(self, kernels: list[StressDivergence], displacements: list[str]) -> np.ndarray:
        """Elements with the balance of momentum."""
        covered = np.zeros((len(displacements), self.mesh.n_elements), int)
        for kernel in kernels:
            values = kernel.values
            if values["variable"] not in displacements:
                raise values.error(f"expected one of the displacements: {', '.join(displacements)}", "variable")
            component = displacements.index(values["variable"])
            if component != values["component"]:
                raise values.error(f"'{values['variable']}' is component {component}", "component")
            if kernel.axisymmetric != self.axisymmetric:
                raise values.error(
                    "is for coord_type = RZ"
                    if kernel.axisymmetric
                    else "with coord_type = RZ the kernels for RZ are needed",
                    "type",
                )
            covered[component, self.elements_of(values)] += 1
        where = self.root.blocks.get("Kernels", self.root)
        if np.any(covered > 1) or np.any(covered.min(axis=0) != covered.max(axis=0)):
            what = "more than one" if np.any(covered > 1) else "no"
            name = displacements[int(np.argwhere(covered != 1)[0, 0])]
            raise where.error(f"variable '{name}' has {what} kernel of the balance of momentum on some elements")
        has = np.ones(self.mesh.n_elements, bool)
        for name in displacements:
            has &= np.isin(np.arange(self.mesh.n_elements), self.unknowns.variables[name].elements)
        return np.flatnonzero((covered[0] > 0) & has)

    def _check_strains(self, strains: list[StrainMaterial]) -> None:
        covered = np.zeros(self.mesh.n_elements, int)
        for strain in strains:
            covered[self.elements_of(strain.values)] += 1
        wrong = self._momentum[covered[self._momentum] != 1]
        if len(wrong):
            what = "no strain material" if covered[wrong[0]] == 0 else "more than one strain material"
            where = self.root.blocks.get("Materials", self.root)
            raise where.error(f"block '{self._block_of(wrong[0])}' has {what} (ComputeSmallStrain)")

    def _block_of(self, element: int) -> str:
        return self.mesh.block_name(int(self.mesh.block_ids[element]))

    def _read_laws(self, folder: Path) -> list[BlockPoints]:
        block = self.root.blocks.get("Matlaw")
        if block is None or not block.blocks:
            if self.mechanics is None:
                return []
            raise (block or self.root).error("no law: add [Matlaw] with an entry [name] input = '...' []")
        if block.fields:
            raise next(iter(block.fields.values())).error("[Matlaw] holds entries, [Matlaw/name], not parameters")
        taken = np.zeros(self.mesh.n_elements, bool)
        points = []
        for below in block.blocks.values():
            law = Law(below, folder, self.mechanics is not None and self.mechanics.large)
            elements = self.elements_of(law.values)
            if law.stress:
                if self.mechanics is None:
                    raise below.error(f"the law gives a stress, but there is no balance of momentum; {law.offer()}")
                if np.any(taken[elements]):
                    raise below.error(
                        f"block '{self._block_of(elements[taken[elements]][0])}' already has a law; "
                        "restrict the entries with 'block'"
                    )
                taken[elements] = True
            self._connect(law)
            points.append(BlockPoints(law, elements, self.points.n_points, self.start_time))
        if self.mechanics is not None and not np.all(taken[self._momentum]):
            bare = self._momentum[~taken[self._momentum]][0]
            raise block.error(f"block '{self._block_of(bare)}' has no law")
        return points

    def _connect(self, law: Law) -> None:
        """Find the sources of a law's inputs and parameters."""
        law.sources = complete_sources(self, law)
        law.parameter_sources = read_sources(self, law, "parameter")
        for name, variable in self._coupled(law).items():
            if law.stress and (law.stress, name) not in law.pairs:
                raise law.values.error(
                    f"the law was compiled without the derivative {law.stress}:{name} that the global Newton needs, "
                    f"since '{variable}' is solved for; compile it with: matlaw-compile ... "
                    f"-d {law.stress}:{law.strain} {law.stress}:{name}; {law.offer()}",
                    "input",
                )

    def _coupled(self, law: Law) -> dict[str, str]:
        """The inputs of a law that are variables solved for."""
        return {
            name: source.name
            for name, source in law.sources.items()
            if source.kind == "VARIABLE" and source.name in self.unknowns.variables
        }

    def _link_kernels(self) -> None:
        for kernel in self.kernels:
            kernel.link(self)
            for parameter in kernel.used_properties():
                self.properties.check(kernel.values[parameter], kernel.values, parameter)
        used = {kernel.variable for kernel in self.kernels}
        for name in self.unknowns.names:
            if name not in used:
                raise self.root.blocks["Variables"].error(f"no kernel acts on the variable '{name}'")

    def _read_conditions(self) -> None:
        conditions: dict[str, BoundaryCondition] = self._objects("BCs")
        for condition in conditions.values():
            condition.link(self)
        nodal = [condition for condition in conditions.values() if isinstance(condition, NodalCondition)]
        self._loads = [condition for condition in conditions.values() if isinstance(condition, LoadCondition)]
        self.constraints = Constraints(nodal, self.unknowns.present)

    def _allocate(self) -> None:
        k = self.mechanics.k if self.mechanics is not None else 0
        shape = self.points.weights.shape
        self._stress = np.zeros((*shape, k))
        self._tangent = np.zeros((*shape, k, k))
        coupled = {name for points in self.laws if points.law.stress for name in self._coupled(points.law).values()}
        self._by_variable = {name: np.zeros((*shape, k)) for name in self.unknowns.names if name in coupled}
        self._saved: dict[str, np.ndarray] = {}

    def _read_outputs(self) -> None:
        self.aux_kernels: dict[str, AuxKernel] = self._objects("AuxKernels")
        for aux in self.aux_kernels.values():
            aux.link(self)
        for kernel in self.kernels:
            for target in kernel.values["save_in"]:
                if target not in self.auxiliary or not self.auxiliary[target].nodal:
                    raise kernel.values.error(f"no nodal auxiliary variable '{target}'", "save_in")
        for aux in self.aux_kernels.values():
            aux.begin(self, self.start_time)
        self.postprocessors: dict[str, Postprocessor] = self._objects("Postprocessors")
        for postprocessor in self.postprocessors.values():
            postprocessor.link(self)

    def elements_of(self, values: Values) -> np.ndarray:
        """Elements of the blocks that ``block`` lists; all without it."""
        return elements_of(values, self.mesh)

    def nodes_of(self, values: Values) -> np.ndarray:
        """Nodes of the boundaries that ``boundary`` lists; all without it."""
        return nodes_of(values, self.mesh)

    def displaced(self, u: np.ndarray) -> VolumePoints:
        """The quadrature points of the elements where the displacements put them.

        :raises StepFailedError: an element is turned inside out, which a smaller step may avoid
        """
        if self._displaced is None or not np.array_equal(self._displaced[0], u):
            moved = replace(self.mesh, points=self.mesh.points + self.displacement(u))
            try:
                self._displaced = (u.copy(), VolumePoints(moved, self.axisymmetric))
            except ValueError as error:
                raise StepFailedError(f"on the deformed mesh: {error}") from error
        return self._displaced[1]

    def sides(self, name: str, elements: np.ndarray | None = None) -> SidePoints:
        """The quadrature points on a side set, or on those of its sides that belong to some elements."""
        if elements is None or len(elements) == self.mesh.n_elements:
            if name not in self._sides:
                self._sides[name] = SidePoints(self.mesh, self.mesh.sidesets[name], self.axisymmetric)
            return self._sides[name]
        sides = self.mesh.sidesets[name]
        return SidePoints(self.mesh, sides[np.isin(sides[:, 0], elements)], self.axisymmetric)

    # the equations

    def begin(self, t: float) -> None:
        """An attempt at a step that ends at time ``t`` begins."""
        for aux in self.aux_kernels.values():
            aux.begin(self, t)

    def evaluate(self, trial: Trial) -> np.ndarray:
        """Evaluate every law and assemble the residual.

        :returns: internal less external forces, ``(n_dofs,)``
        :raises LawFailedError: a law failed at some points
        """
        self._trial = trial
        self._evaluate_laws(trial)
        began = clock.perf_counter()
        arrays = ElementArrays(self.unknowns, False)
        self._saved = {}
        if self.mechanics is not None:
            force = self.mechanics.internal_force(self._stress)
            arrays.vectors[:, self.mechanics.columns] += force
            self._save_momentum(arrays)
        for kernel in self.kernels:
            if isinstance(kernel, ScalarKernel):
                self._add_kernel(kernel, trial, arrays)
        self.internal = self.unknowns.scatter(arrays.vectors)
        for load in self._loads:
            load.contribute(_values_only(trial), arrays)
        residual = self.unknowns.scatter(arrays.vectors)
        self.timing.assembly += clock.perf_counter() - began
        return residual

    def _add_kernel(self, kernel: ScalarKernel, trial: Trial, arrays: ElementArrays) -> None:
        before = arrays.vectors.copy() if kernel.values["save_in"] else None
        kernel.follow(trial)
        kernel.contribute(_values_only(trial), arrays)
        if before is not None:
            self._save(kernel, self.unknowns.scatter(arrays.vectors - before))

    def _save_momentum(self, arrays: ElementArrays) -> None:
        kernels = [k for k in self.kernels if isinstance(k, StressDivergence) and k.values["save_in"]]
        if not kernels:
            return
        for kernel in kernels:
            own = np.zeros_like(arrays.vectors)
            own[kernel.elements] = arrays.vectors[kernel.elements]
            self._save(kernel, self.unknowns.scatter(own))

    def _save(self, kernel: Kernel, residual: np.ndarray) -> None:
        values = self.unknowns.of(residual, kernel.variable)
        for target in kernel.values["save_in"]:
            self._saved[target] = self._saved.get(target, 0.0) + values

    def _evaluate_laws(self, trial: Trial) -> None:
        began = clock.perf_counter()
        driving = self.mechanics.driving(trial.u) if self.mechanics is not None else None
        self.timing.strain += clock.perf_counter() - began
        failed: LawFailedError | None = None
        for points in self.laws:
            inputs = self._law_inputs(points, driving, trial)
            try:
                points.evaluate(inputs, trial.t, trial.tangent)
            except LawFailedError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        began = clock.perf_counter()
        for points in self.laws:
            if points.law.stress and driving is not None:
                self._take_response(points, driving, trial.tangent)
        self.timing.assembly += clock.perf_counter() - began

    def sourced(
        self, law: Law, points: VolumePoints | SidePoints, rows: np.ndarray, u: np.ndarray, t: float
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Inputs of a law from elsewhere than the deformation, and its parameters, at points of elements or sides."""
        inputs = {name: source.at(self, points, rows, u, t) for name, source in law.sources.items()}
        return inputs, {name: source.at(self, points, rows, u, t) for name, source in law.parameter_sources.items()}

    def _law_inputs(self, points: BlockPoints, driving: np.ndarray | None, trial: Trial) -> dict[str, np.ndarray]:
        inputs, parameters = self.sourced(points.law, self.points, points.elements, trial.u, trial.t)
        points.set_parameters(parameters)
        if points.law.strain and driving is not None:
            whole = len(points.elements) == self.mesh.n_elements
            local = driving if whole else driving[points.elements]
            inputs[points.law.strain] = law_input(points, local.reshape(-1, local.shape[-1]))
        return inputs

    def _take_response(self, points: BlockPoints, driving: np.ndarray, tangent: bool) -> None:
        whole = len(points.elements) == self.mesh.n_elements
        local = (driving if whole else driving[points.elements]).reshape(-1, driving.shape[-1])
        coupled = self._coupled(points.law)
        response = Response(points, local, list(coupled), tangent)
        shape, k = (len(points.elements), self.points.n_points), local.shape[-1]
        stress = response.stress.reshape(*shape, k)
        matrix = response.tangent.reshape(*shape, k, k) if response.tangent is not None else None
        if whole:
            self._stress = stress
            self._tangent = matrix if matrix is not None else self._tangent
        else:
            self._stress[points.elements] = stress
            if matrix is not None:
                self._tangent[points.elements] = matrix
        for name, derivative in response.by_scalar.items():
            self._by_variable[coupled[name]][points.elements] = derivative.reshape(*shape, k)

    def stiffness(self) -> tuple[csr_matrix, np.ndarray]:
        """The tangent matrix of the free degrees of freedom at the last evaluation, and its element matrices."""
        began = clock.perf_counter()
        arrays = ElementArrays(self.unknowns, True)
        assert arrays.matrices is not None
        if self.mechanics is not None:
            columns = self.mechanics.columns
            stiffness = self.mechanics.stiffness(self._tangent)
            if arrays.matrices.shape == stiffness.shape and np.array_equal(columns, np.arange(len(columns))):
                arrays.matrices = stiffness
            else:
                arrays.matrices[:, columns[:, None], columns[None, :]] += stiffness
            for name, derivative in self._by_variable.items():
                shape = self.points.space(self.unknowns.variables[name].order).shape
                local = self.mechanics.coupling(derivative, shape)
                own = np.arange(*self.unknowns.columns[name].indices(10**9))
                arrays.matrices[:, columns[:, None], own[None, :]] += local
        for kernel in self.kernels:
            if isinstance(kernel, ScalarKernel):
                kernel.follow(self._trial)
                kernel.contribute(self._trial, arrays)
        for load in self._loads:
            load.contribute(self._trial, arrays)
        matrix = self.pattern.matrix(arrays.matrices)
        self.timing.assembly += clock.perf_counter() - began
        return matrix, arrays.matrices

    def scaling(self) -> np.ndarray:
        """Factor of each residual in the norm that decides on convergence: the free ones, then the prescribed ones."""
        factors = np.array([variable.scaling for variable in self.unknowns.variables.values()])
        order = np.concatenate([self.constraints.free, self.constraints.dofs])
        return factors[order % self.unknowns.count]

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
        """A variable or a nodal auxiliary variable, ``(n_nodes,)``."""
        if name in self.unknowns.variables:
            return self.unknowns.nodal(self.u, name)
        return self.auxiliary[name].values

    def field_at(self, points: VolumePoints | SidePoints, name: str, u: np.ndarray) -> np.ndarray:
        """A variable or auxiliary variable at the points of elements or sides, ``(n, n_points)``."""
        if name in self.unknowns.variables:
            return points.space(self.unknowns.variables[name].order).at_points(self.unknowns.of(u, name))
        variable = self.auxiliary[name]
        if variable.nodal:
            return points.space(self.mesh.type.order).at_points(variable.values)
        return np.broadcast_to(variable.values[points.elements][:, None], points.weights.shape)

    def displacement(self, u: np.ndarray | None = None) -> np.ndarray:
        """Displacements of the nodes, ``(n_nodes, 3)``, of the accepted step or of other values."""
        result = np.zeros((self.mesh.n_nodes, 3))
        if self.mechanics is not None:
            for component, name in enumerate(self.mechanics.displacements):
                result[:, component] = self.unknowns.nodal(self.u if u is None else u, name)
        return result

    def tensor_names(self) -> list[str]:
        """Tensors that auxiliary kernels can use."""
        names: list[str] = []
        if self.mechanics is not None and self.mechanics.large:
            names += ["stress", "cauchy_stress", "pk1_stress", "deformation_gradient"]
        elif self.mechanics is not None:
            names += ["stress", "cauchy_stress", "total_strain", "mechanical_strain"]
        for points in self.laws:
            law = points.law
            kinds = law.outputs.items()
            names += [law.properties[name] for name, kind in kinds if kind in ("SR2", "R2") and name != law.stress]
        return list(dict.fromkeys(names))

    def scalar_names(self) -> list[str]:
        """Scalar outputs of the laws."""
        laws = [points.law for points in self.laws]
        names = [law.properties[name] for law in laws for name, kind in law.outputs.items() if kind == "Scalar"]
        return list(dict.fromkeys(names))

    def tensor(self, name: str) -> np.ndarray:
        """A tensor at quadrature points, ``(n_elements, n_points, 6)`` in Mandel components, or ``(..., 3, 3)``.

        It is zero where a law does not have it.
        """
        shape = self.points.weights.shape
        if self.mechanics is not None and self.mechanics.large:
            F = self.mechanics.driving(self.u).reshape(-1, 3, 3)
            P = self._stress.reshape(-1, 3, 3)
            if name in ("stress", "cauchy_stress"):
                return finite_strain.cauchy(P, F).reshape(*shape, 6)
            if name in ("pk1_stress", "deformation_gradient"):
                return (P if name == "pk1_stress" else F).reshape(*shape, 3, 3)
        elif self.mechanics is not None:
            if name in ("total_strain", "mechanical_strain"):
                return self.mechanics.driving(self.u)
            if name in ("stress", "cauchy_stress"):
                return self._stress
        return self._gather(name)

    def scalar(self, name: str) -> np.ndarray:
        """A scalar output at quadrature points, ``(n_elements, n_points)``; zero where a law does not have it."""
        return self._gather(name)

    def scalar_slopes(self, name: str) -> dict[str, np.ndarray]:
        """Derivatives of a scalar output by variables, ``(n_elements, n_points)`` each, where laws have them."""
        result: dict[str, np.ndarray] = {}
        for points, output in self._giving(name):
            for source, variable in self._coupled(points.law).items():
                if (output, source) in points.law.pairs:
                    slope = result.setdefault(variable, np.zeros(self.points.weights.shape))
                    slope[points.elements] += points.tangent(output, source).reshape(len(points.elements), -1)
        return result

    def _giving(self, name: str) -> list[tuple[BlockPoints, str]]:
        """The laws with a property of a name, and their output for it."""
        return [
            (points, output)
            for points in self.laws
            for output, renamed in points.law.properties.items()
            if renamed == name
        ]

    def _gather(self, name: str) -> np.ndarray:
        shape = self.points.weights.shape
        result: np.ndarray | None = None
        for points, output in self._giving(name):
            values = points.output(output)
            if result is None:
                result = np.zeros((*shape, *values.shape[1:]))
            result[points.elements] = values.reshape(len(points.elements), self.points.n_points, *values.shape[1:])
        return np.zeros(shape) if result is None else result

    def update_auxiliary(self) -> None:
        """Fill the auxiliary variables from the accepted step."""
        for aux in self.aux_kernels.values():
            aux.end(self)
        for target, values in self._saved.items():
            self.auxiliary[target].values = values

    def postprocess(self) -> dict[str, float]:
        """Values of the postprocessors on the accepted step."""
        self.reported = {name: postprocessor.value(self) for name, postprocessor in self.postprocessors.items()}
        return self.reported


def _axisymmetric(root: Block) -> bool:
    """What ``coord_type`` in ``[Mesh]`` or ``[Problem]`` says."""
    for name in ("Mesh", "Problem"):
        block = root.blocks.get(name)
        if block is not None and "coord_type" in block.fields:
            words = set(block.text("coord_type").upper().split())
            if not words <= {"XYZ", "RZ"} or len(words) != 1:
                raise block.fields["coord_type"].error(
                    "coord_type: only XYZ or RZ for all blocks is available (MOOSE has RSPHERICAL, and one per block)"
                )
            return words == {"RZ"}
    return False


def _values_only(trial: Trial) -> Trial:
    return Trial(trial.u, trial.old, trial.t, trial.dt, tangent=False)
