"""Mesh generators with MOOSE's names and parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from matlaw.fe.functions.expression import ExpressionError, compile_expression
from matlaw.fe.input.parameters import Parameter, Values, required
from matlaw.fe.input.registry import MooseObject, register
from matlaw.fe.mesh.box import box
from matlaw.fe.mesh.elements import ELEMENT_TYPES, ElementType
from matlaw.fe.mesh.files import MeshFileError, read_mesh
from matlaw.fe.mesh.mesh import Mesh
from matlaw.fe.mesh.order import raise_order


class MeshGenerator(MooseObject):
    """Makes a mesh, or changes the one that its ``input`` made."""

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The new mesh.

        :param mesh: what ``input`` made; None without that parameter
        """
        raise NotImplementedError

    def changed(self, mesh: Mesh | None) -> Mesh:
        """The mesh to change."""
        if mesh is None:
            raise self.values.error("the parameter 'input' is missing")
        return mesh

    def blocks(self, mesh: Mesh, parameter: str) -> list[int]:
        """Numbers of the blocks that a parameter lists."""
        numbers = []
        for text in self.values[parameter] or []:
            number = mesh.block_id(text)
            if number is None:
                raise self.values.error(f"no block '{text}'; blocks: {', '.join(mesh.blocks())}", parameter)
            numbers.append(number)
        return numbers


def element_type(values: Values, dim: int, allowed: tuple[str, ...] = tuple(ELEMENT_TYPES)) -> ElementType:
    """The type that ``elem_type`` names; without it the one of first order.

    :raises InputFileError: there is no such type in this dimension
    """
    name = (values["elem_type"] or ("QUAD4" if dim == 2 else "HEX8")).upper()
    name = {"HEX": "HEX8", "QUAD": "QUAD4", "TRI": "TRI3", "TET": "TET4"}.get(name, name)
    known = [other for other in allowed if ELEMENT_TYPES[other].dim == dim]
    if name not in known:
        raise values.error(f"available in {dim} dimensions: {', '.join(known)} (MOOSE has more)", "elem_type")
    return ELEMENT_TYPES[name]


_POSITIVE = (lambda value: value > 0, "positive")
_CELLS = (lambda value: 0 < value < 2**31, "positive and below 2^31")
_BIAS = (lambda value: 0.5 <= value <= 2.0, "between 0.5 and 2")


@register("Mesh", "GeneratedMesh", "GeneratedMeshGenerator")
class GeneratedMeshGenerator(MeshGenerator):
    """A rectangle or box of ``nx`` by ``ny`` (by ``nz``) cells with sides left, right, bottom, top, back, front."""

    parameters: ClassVar = {
        "dim": Parameter("int", required=True),
        "elem_type": Parameter("string"),
        **{f"n{axis}": Parameter("int", 1, check=_CELLS) for axis in "xyz"},
        **{f"{axis}min": Parameter("real", 0.0) for axis in "xyz"},
        **{f"{axis}max": Parameter("real", 1.0) for axis in "xyz"},
        **{f"bias_{axis}": Parameter("real", 1.0, check=_BIAS) for axis in "xyz"},
    }

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self._axes = "xyz"[: values["dim"]]
        if values["dim"] not in (2, 3):
            raise values.error("only two and three dimensions are available (MOOSE has 1 as well)", "dim")
        self._type = element_type(values, values["dim"])
        for axis in self._axes:
            if values[f"{axis}max"] <= values[f"{axis}min"]:
                raise values.error(f"{axis}max must be greater than {axis}min", f"{axis}max")

    def _line(self, axis: str) -> np.ndarray:
        n, low, high = self.values[f"n{axis}"], self.values[f"{axis}min"], self.values[f"{axis}max"]
        bias = self.values[f"bias_{axis}"]
        index = np.arange(n + 1)
        fraction = index / n if bias == 1.0 else (1.0 - bias**index) / (1.0 - bias**n)
        line = low + (high - low) * fraction
        line[-1] = high
        return line

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The box; cells are numbered with x fastest."""
        return box([self._line(axis) for axis in self._axes], self._type)


@register("Mesh", "PatchMeshGenerator")
class PatchMeshGenerator(MeshGenerator):
    """Distorted elements that fill a rectangle or box: the patch tests of MacNeal and Harder (1985)."""

    parameters: ClassVar = {
        "dim": Parameter("int", 2, check=(lambda value: value in (2, 3), "2 or 3")),
        "elem_type": Parameter("string"),
        **{f"{axis}_length": Parameter("real", check=_POSITIVE) for axis in "xyz"},
        **{f"{axis}_offset": Parameter("real", 0.0) for axis in "xyz"},
    }

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The patch."""
        dim = self.values["dim"]
        kind = element_type(self.values, dim, ("QUAD4", "QUAD8", "HEX8", "HEX20"))
        return raise_order(self._flat() if dim == 2 else self._solid(), kind)

    def _mesh(
        self,
        kind: str,
        fractions: np.ndarray,
        lengths: tuple[float, ...],
        elements: np.ndarray,
        side: int,
        names: list[str],
        corners: list[str],
    ) -> Mesh:
        given = [self.values[f"{axis}_length"] for axis in "xyz"]
        length = np.array([b if a is None else a for a, b in zip(given, lengths, strict=True)])
        offset = np.array([self.values[f"{axis}_offset"] for axis in "xyz"])
        return Mesh(
            ELEMENT_TYPES[kind],
            offset + length * fractions,
            elements,
            np.arange(1, len(elements) + 1),
            {},
            {name: np.array([[element, side]]) for element, name in enumerate(names)},
            {name: number for number, name in enumerate(names, start=1)},
            {name: np.array([node]) for node, name in enumerate(corners)},
        )

    def _flat(self) -> Mesh:
        corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
        inner = [(1 / 6, 1 / 6, 0), (3 / 4, 1 / 4, 0), (2 / 3, 2 / 3, 0), (1 / 3, 2 / 3, 0)]
        elements = np.array([[0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7], [4, 5, 6, 7]])
        nodesets = ["bottom_left", "bottom_right", "top_right", "top_left"]
        sides = ["bottom", "right", "top", "left"]
        return self._mesh("QUAD4", np.array(corners + inner, float), (0.24, 0.12, 0.0), elements, 0, sides, nodesets)

    def _solid(self) -> Mesh:
        corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
        inner = [
            (0.249, 0.342, 0.192),
            (0.826, 0.288, 0.288),
            (0.850, 0.649, 0.263),
            (0.273, 0.750, 0.230),
            (0.320, 0.186, 0.643),
            (0.677, 0.305, 0.683),
            (0.788, 0.693, 0.644),
            (0.165, 0.745, 0.702),
        ]
        # each outer element: four inner nodes, then the four corners of the box's face they look at
        faces = [[4, 5, 6, 7], [0, 1, 5, 4], [0, 4, 7, 3], [1, 2, 6, 5], [2, 3, 7, 6], [0, 3, 2, 1]]
        elements = np.array([[*(node + 8 for node in face), *face] for face in faces] + [list(range(8, 16))])
        sides = ["front", "bottom", "left", "right", "top", "back"]
        nodesets = ["bottom_back_left", "bottom_back_right", "top_back_right", "top_back_left"]
        nodesets += [name.replace("back", "front") for name in nodesets]
        return self._mesh("HEX8", np.array(corners + inner, float), (1.0, 1.0, 1.0), elements, 5, sides, nodesets)


@register("Mesh", "FileMesh", "FileMeshGenerator")
class FileMeshGenerator(MeshGenerator):
    """A mesh from an Exodus (``.e``, ``.exo``) or a Gmsh (``.msh``) file."""

    parameters: ClassVar = {"file": required(), "dim": Parameter("int", ignored=True)}

    def generate(self, mesh: Mesh | None) -> Mesh:
        """What the file holds."""
        field = self.values.field("file")
        path = Path(self.values["file"])
        if not path.is_absolute() and field is not None and not field.from_command_line:
            path = Path(field.location.rpartition(":")[0]).parent / path
        try:
            return read_mesh(path)
        except MeshFileError as error:
            raise self.values.error(str(error), "file") from error


@register("Mesh", "ExtraNodesetGenerator")
class ExtraNodesetGenerator(MeshGenerator):
    """A node set from coordinates or node numbers."""

    parameters: ClassVar = {
        "input": required(),
        "new_boundary": required(),
        "coord": Parameter("string"),
        "nodes": Parameter("ints", []),
        "tolerance": Parameter("real", 1e-6),
    }

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The same mesh with another node set."""
        mesh = self.changed(mesh)
        members = list(self.values["nodes"])
        for text in (self.values["coord"] or "").split(";"):
            if not text.strip():
                continue
            try:
                place = [float(word) for word in text.split()]
            except ValueError:
                raise self.values.error("expected numbers, points separated by ';'", "coord") from None
            distance = np.linalg.norm(mesh.points - np.array([*place, 0.0, 0.0][:3]), axis=1)
            if distance.min() > self.values["tolerance"]:
                raise self.values.error(f"no node at ({text.strip()})", "coord")
            members.append(int(distance.argmin()))
        if not members or not all(0 <= node < mesh.n_nodes for node in members):
            raise self.values.error(f"give 'coord' or 'nodes' (0 to {mesh.n_nodes - 1})")
        return replace(mesh, nodesets={**mesh.nodesets, self.values["new_boundary"]: np.unique(members)})


@register("Mesh", "BoundingBoxNodeSetGenerator")
class BoundingBoxNodeSetGenerator(MeshGenerator):
    """The nodes in (or outside) a box as a node set."""

    parameters: ClassVar = {
        "input": required(),
        "new_boundary": required(),
        "bottom_left": required("reals"),
        "top_right": required("reals"),
        "location": Parameter("string", "INSIDE", choices=("INSIDE", "OUTSIDE")),
    }

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The same mesh with another node set."""
        mesh = self.changed(mesh)
        inside = _in_box(self.values, mesh.points)
        if not np.any(inside):
            raise self.values.error("no node is in the box")
        return replace(mesh, nodesets={**mesh.nodesets, self.values["new_boundary"]: np.flatnonzero(inside)})


@register("Mesh", "RenameBlockGenerator")
class RenameBlockGenerator(MeshGenerator):
    """Gives blocks other numbers or names."""

    parameters: ClassVar = {
        "input": required(),
        "old_block": required("strings"),
        "new_block": required("strings"),
    }

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The same mesh with other numbers or names of blocks."""
        mesh = self.changed(mesh)
        old, new = self.blocks(mesh, "old_block"), self.values["new_block"]
        if len(old) != len(new):
            raise self.values.error(f"{len(old)} old blocks but {len(new)} new ones")
        ids, names = mesh.block_ids.copy(), dict(mesh.block_names)
        for number, text in zip(old, new, strict=True):
            if text.isdigit():
                ids[mesh.block_ids == number] = int(text)
                if number in names:
                    names[int(text)] = names.pop(number)
            else:
                names[number] = text
        return replace(mesh, block_ids=ids, block_names=names)


@register("Mesh", "ParsedSubdomainMeshGenerator")
class ParsedSubdomainMeshGenerator(MeshGenerator):
    """Puts the elements whose centroid satisfies ``combinatorial_geometry`` into a block."""

    parameters: ClassVar = {
        "input": required(),
        "combinatorial_geometry": required(),
        "block_id": required("int"),
        "block_name": Parameter("string"),
        "excluded_subdomains": Parameter("strings"),
        "constant_names": Parameter("strings", []),
        "constant_expressions": Parameter("strings", []),
    }

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The same mesh with other blocks."""
        mesh = self.changed(mesh)
        names, texts = self.values["constant_names"], self.values["constant_expressions"]
        if len(names) != len(texts):
            raise self.values.error(f"{len(names)} constant_names but {len(texts)} constant_expressions")
        try:
            constants: dict[str, float] = {}
            for name, text in zip(names, texts, strict=True):
                constants[name] = float(compile_expression(text, (), constants)())
            function = compile_expression(self.values["combinatorial_geometry"], ("x", "y", "z"), constants)
        except ExpressionError as error:
            raise self.values.error(str(error), "combinatorial_geometry") from error
        x, y, z = mesh.centroids().T
        inside = np.broadcast_to(np.abs(np.asarray(function(x=x, y=y, z=z), float)) >= 0.5, x.shape)
        inside = inside & ~np.isin(mesh.block_ids, self.blocks(mesh, "excluded_subdomains"))
        return _relabelled(mesh, inside, self.values)


@register("Mesh", "SubdomainBoundingBoxGenerator")
class SubdomainBoundingBoxGenerator(MeshGenerator):
    """Puts the elements whose centroid is inside (or outside) a box into a block."""

    parameters: ClassVar = {
        "input": required(),
        "bottom_left": required("reals"),
        "top_right": required("reals"),
        "block_id": required("int"),
        "block_name": Parameter("string"),
        "location": Parameter("string", "INSIDE", choices=("INSIDE", "OUTSIDE")),
        "restricted_subdomains": Parameter("strings"),
    }

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The same mesh with other blocks."""
        mesh = self.changed(mesh)
        chosen = _in_box(self.values, mesh.centroids())
        if self.values.given("restricted_subdomains"):
            chosen &= np.isin(mesh.block_ids, self.blocks(mesh, "restricted_subdomains"))
        return _relabelled(mesh, chosen, self.values)


def _in_box(values: Values, points: np.ndarray) -> np.ndarray:
    """Which points are in (or outside) the box of an object's parameters."""
    for name in ("bottom_left", "top_right"):
        if len(values[name]) != 3:
            raise values.error("expected three numbers", name)
    inside = np.all((points >= values["bottom_left"]) & (points <= values["top_right"]), axis=1)
    return ~inside if values["location"].upper() == "OUTSIDE" else inside


def _relabelled(mesh: Mesh, chosen: np.ndarray, values: Values) -> Mesh:
    names = dict(mesh.block_names)
    if values["block_name"] is not None:
        names[values["block_id"]] = values["block_name"]
    return replace(mesh, block_ids=np.where(chosen, values["block_id"], mesh.block_ids), block_names=names)


@register("Mesh", "BlockDeletionGenerator")
class BlockDeletionGenerator(MeshGenerator):
    """Removes the elements of some blocks; the sides laid open can become a new boundary."""

    parameters: ClassVar = {
        "input": required(),
        "block": Parameter("strings", required=True),
        "new_boundary": Parameter("string"),
        "delete_exteriors": Parameter("bool", True, ignored=True),
    }

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The smaller mesh."""
        mesh = self.changed(mesh)
        gone = np.isin(mesh.block_ids, self.blocks(mesh, "block"))
        if np.all(gone):
            raise self.values.error("no element would be left", "block")
        return mesh.without(gone, self.values["new_boundary"])


@register("Mesh", "RenameBoundaryGenerator")
class RenameBoundaryGenerator(MeshGenerator):
    """Gives side sets and node sets other names."""

    parameters: ClassVar = {
        "input": required(),
        "old_boundary": required("strings"),
        "new_boundary": required("strings"),
    }

    def generate(self, mesh: Mesh | None) -> Mesh:
        """The same mesh with other names."""
        mesh = self.changed(mesh)
        old, new = self.values["old_boundary"], self.values["new_boundary"]
        if len(old) != len(new):
            raise self.values.error(f"{len(old)} old names but {len(new)} new ones")
        sidesets, ids, nodesets = dict(mesh.sidesets), dict(mesh.sideset_ids), dict(mesh.nodesets)
        for text, renamed in zip(old, new, strict=True):
            name = mesh.boundary_name(text)
            if name is None:
                raise self.values.error(
                    f"no boundary '{text}'; boundaries: {', '.join(mesh.boundary_names())}", "old_boundary"
                )
            for sets in (sidesets, nodesets):
                if name in sets:
                    sets[renamed] = sets.pop(name)
            if name in ids:
                ids[renamed] = ids.pop(name)
        return replace(mesh, sidesets=sidesets, sideset_ids=ids, nodesets=nodesets)
