"""Mesh generators with MOOSE's names and parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from matlaw.fe.functions.expression import ExpressionError, compile_expression
from matlaw.fe.input.parameters import Parameter, Values, required
from matlaw.fe.input.registry import MooseObject, register
from matlaw.fe.mesh.hexmesh import HexMesh


class MeshGenerator(MooseObject):
    """Makes a mesh, or changes the one that its ``input`` made."""

    def generate(self, mesh: HexMesh | None) -> HexMesh:
        """The new mesh.

        :param mesh: what ``input`` made; None without that parameter
        """
        raise NotImplementedError

    def changed(self, mesh: HexMesh | None) -> HexMesh:
        """The mesh to change."""
        if mesh is None:
            raise self.values.error("the parameter 'input' is missing")
        return mesh

    def blocks(self, mesh: HexMesh, parameter: str) -> list[int]:
        """Numbers of the blocks that a parameter lists."""
        numbers = []
        for text in self.values[parameter] or []:
            number = mesh.block_id(text)
            if number is None:
                raise self.values.error(f"no block '{text}'; blocks: {', '.join(mesh.blocks())}", parameter)
            numbers.append(number)
        return numbers


_POSITIVE = (lambda value: value > 0, "positive")
_BIAS = (lambda value: 0.5 <= value <= 2.0, "between 0.5 and 2")


@register("Mesh", "GeneratedMesh", "GeneratedMeshGenerator")
class GeneratedMeshGenerator(MeshGenerator):
    """A box of ``nx`` times ``ny`` times ``nz`` hexahedra with sides left, right, bottom, top, back, front."""

    parameters: ClassVar = {
        "dim": Parameter("int", required=True),
        "elem_type": Parameter("string", "HEX8"),
        **{f"n{axis}": Parameter("int", 1, check=_POSITIVE) for axis in "xyz"},
        **{f"{axis}min": Parameter("real", 0.0) for axis in "xyz"},
        **{f"{axis}max": Parameter("real", 1.0) for axis in "xyz"},
        **{f"bias_{axis}": Parameter("real", 1.0, check=_BIAS) for axis in "xyz"},
    }

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        if values["dim"] != 3:
            raise values.error("only three dimensions are available (MOOSE has 1 and 2 as well)", "dim")
        if values["elem_type"].upper() not in ("HEX8", "HEX"):
            raise values.error("only HEX8 is available (MOOSE has more)", "elem_type")
        for axis in "xyz":
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

    def generate(self, mesh: HexMesh | None) -> HexMesh:
        """The box; nodes and elements are numbered with x fastest."""
        x, y, z = (self._line(axis) for axis in "xyz")
        nx, ny, nz = len(x) - 1, len(y) - 1, len(z) - 1
        gz, gy, gx = np.meshgrid(z, y, x, indexing="ij")
        points = np.column_stack([gx.ravel(), gy.ravel(), gz.ravel()])
        k, j, i = (index.ravel() for index in np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij"))
        corner = i + (nx + 1) * (j + (ny + 1) * k)
        dx, dy, dz = 1, nx + 1, (nx + 1) * (ny + 1)
        offsets = np.array([0, dx, dx + dy, dy, dz, dx + dz, dx + dy + dz, dy + dz])
        on = [k == 0, j == 0, i == nx - 1, j == ny - 1, i == 0, k == nz - 1]
        names = ["back", "bottom", "right", "top", "left", "front"]
        sidesets = {
            name: np.column_stack([np.flatnonzero(mask), np.full(np.count_nonzero(mask), side)])
            for side, (name, mask) in enumerate(zip(names, on, strict=True))
        }
        return HexMesh(
            points,
            corner[:, None] + offsets,
            np.zeros(len(corner), int),
            {},
            sidesets,
            {name: number for number, name in enumerate(names)},
        )


@register("Mesh", "PatchMeshGenerator")
class PatchMeshGenerator(MeshGenerator):
    """Seven distorted hexahedra that fill a box: the patch test of MacNeal and Harder (1985)."""

    parameters: ClassVar = {
        "dim": Parameter("int", 2),
        "elem_type": Parameter("string", "HEX8"),
        **{f"{axis}_length": Parameter("real", 1.0, check=_POSITIVE) for axis in "xyz"},
        **{f"{axis}_offset": Parameter("real", 0.0) for axis in "xyz"},
    }

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        if values["dim"] != 3 or values["elem_type"].upper() != "HEX8":
            raise values.error("only dim = 3 with HEX8 is available (MOOSE has more)")

    def generate(self, mesh: HexMesh | None) -> HexMesh:
        """The patch."""
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
        length = np.array([self.values[f"{axis}_length"] for axis in "xyz"])
        offset = np.array([self.values[f"{axis}_offset"] for axis in "xyz"])
        points = offset + length * np.array(corners + inner, float)
        # each outer element: four inner nodes, then the four corners of the box's face they look at
        faces = [[4, 5, 6, 7], [0, 1, 5, 4], [0, 4, 7, 3], [1, 2, 6, 5], [2, 3, 7, 6], [0, 3, 2, 1]]
        elements = np.array([[*(node + 8 for node in face), *face] for face in faces] + [list(range(8, 16))])
        names = ["front", "bottom", "left", "right", "top", "back"]
        nodesets = ["bottom_back_left", "bottom_back_right", "top_back_right", "top_back_left"]
        nodesets += [name.replace("back", "front") for name in nodesets]
        return HexMesh(
            points,
            elements,
            np.arange(1, 8),
            {},
            {name: np.array([[element, 5]]) for element, name in enumerate(names)},
            {name: number for number, name in enumerate(names, start=1)},
            {name: np.array([node]) for node, name in enumerate(nodesets)},
        )


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

    def generate(self, mesh: HexMesh | None) -> HexMesh:
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

    def generate(self, mesh: HexMesh | None) -> HexMesh:
        """The same mesh with other blocks."""
        mesh = self.changed(mesh)
        for name in ("bottom_left", "top_right"):
            if len(self.values[name]) != 3:
                raise self.values.error("expected three numbers", name)
        centroids = mesh.centroids()
        chosen = np.all((centroids >= self.values["bottom_left"]) & (centroids <= self.values["top_right"]), axis=1)
        if self.values["location"].upper() == "OUTSIDE":
            chosen = ~chosen
        if self.values.given("restricted_subdomains"):
            chosen &= np.isin(mesh.block_ids, self.blocks(mesh, "restricted_subdomains"))
        return _relabelled(mesh, chosen, self.values)


def _relabelled(mesh: HexMesh, chosen: np.ndarray, values: Values) -> HexMesh:
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

    def generate(self, mesh: HexMesh | None) -> HexMesh:
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

    def generate(self, mesh: HexMesh | None) -> HexMesh:
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
