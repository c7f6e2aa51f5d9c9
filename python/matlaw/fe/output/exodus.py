"""An Exodus II file with a time series, written with netCDF4 (Sandia report SAND92-2137)."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np

from matlaw.fe.mesh.mesh import Mesh
from matlaw.version import __version__

_NAME_LENGTH = 33


def _names(dataset: netCDF4.Dataset, variable: str, dimension: str, names: list[str]) -> None:
    dataset.createVariable(variable, "S1", (dimension, "len_name"))
    characters = np.zeros((len(names), _NAME_LENGTH), "S1")
    for row, name in enumerate(names):
        encoded = name.encode()[: _NAME_LENGTH - 1]
        characters[row, : len(encoded)] = np.frombuffer(encoded, "S1")
    dataset[variable][:] = characters


class ExodusWriter:
    """Nodal, element and global variables per step; block, side set and node set names.

    :param path: the file
    :param mesh: the mesh
    :param nodal: names of nodal variables
    :param elemental: names of element variables
    :param scalars: names of global variables
    :param after: go on behind the steps up to this time of a file that is there
    """

    def __init__(
        self,
        path: Path,
        mesh: Mesh,
        nodal: list[str],
        elemental: list[str],
        scalars: list[str],
        after: float | None = None,
    ) -> None:
        self.path = path
        self._nodal, self._elemental, self._scalars = nodal, elemental, scalars
        self._steps = 0
        numbers = np.unique(mesh.block_ids)
        self._members = [np.flatnonzero(mesh.block_ids == number) for number in numbers]
        if after is not None and path.exists():
            self._dataset = netCDF4.Dataset(str(path), "a")
            times = np.asarray(self._dataset["time_whole"][:])
            self._steps = int(np.count_nonzero(times <= after + 1e-9 * max(1.0, abs(after))))
            return
        self._dataset = dataset = netCDF4.Dataset(str(path), "w", format="NETCDF3_64BIT_OFFSET")
        dataset.api_version = np.float32(8.03)
        dataset.version = np.float32(8.03)
        dataset.floating_point_word_size = np.int32(8)
        dataset.file_size = np.int32(1)
        dataset.maximum_name_length = np.int32(_NAME_LENGTH - 1)
        dataset.title = f"matlaw-fe {__version__}"
        dataset.createDimension("len_string", 33)
        dataset.createDimension("len_name", _NAME_LENGTH)
        dataset.createDimension("len_line", 81)
        dataset.createDimension("four", 4)
        dataset.createDimension("time_step", None)
        dataset.createDimension("num_dim", mesh.dim)
        dataset.createDimension("num_nodes", mesh.n_nodes)
        dataset.createDimension("num_elem", mesh.n_elements)
        dataset.createVariable("time_whole", "f8", ("time_step",))
        _names(dataset, "coor_names", "num_dim", list("xyz"[: mesh.dim]))
        for axis, name in enumerate("xyz"[: mesh.dim]):
            dataset.createVariable(f"coord{name}", "f8", ("num_nodes",))[:] = mesh.points[:, axis]
        self._blocks(mesh, numbers)
        self._sidesets(mesh)
        self._nodesets(mesh)
        self._variables()
        dataset.sync()

    def _blocks(self, mesh: Mesh, numbers: np.ndarray) -> None:
        dataset = self._dataset
        dataset.createDimension("num_el_blk", len(numbers))
        dataset.createVariable("eb_status", "i4", ("num_el_blk",))[:] = 1
        ids = dataset.createVariable("eb_prop1", "i4", ("num_el_blk",))
        ids.setncattr("name", "ID")
        ids[:] = numbers
        _names(dataset, "eb_names", "num_el_blk", [mesh.block_names.get(int(number), "") for number in numbers])
        for index, members in enumerate(self._members, start=1):
            dataset.createDimension(f"num_el_in_blk{index}", len(members))
            dataset.createDimension(f"num_nod_per_el{index}", mesh.type.n_nodes)
            connect = dataset.createVariable(
                f"connect{index}", "i4", (f"num_el_in_blk{index}", f"num_nod_per_el{index}")
            )
            connect.elem_type = mesh.type.name
            connect[:] = mesh.elements[members][:, mesh.type.exodus_nodes] + 1
        dataset.createVariable("elem_num_map", "i4", ("num_elem",))[:] = np.concatenate(self._members) + 1
        dataset.createVariable("node_num_map", "i4", ("num_nodes",))[:] = np.arange(1, mesh.n_nodes + 1)

    def _sidesets(self, mesh: Mesh) -> None:
        dataset = self._dataset
        sets = [(name, sides) for name, sides in mesh.sidesets.items() if len(sides)]
        if not sets:
            return
        place = np.empty(mesh.n_elements, int)  # Exodus numbers elements block by block
        place[np.concatenate(self._members)] = np.arange(mesh.n_elements)
        dataset.createDimension("num_side_sets", len(sets))
        dataset.createVariable("ss_status", "i4", ("num_side_sets",))[:] = 1
        ids = dataset.createVariable("ss_prop1", "i4", ("num_side_sets",))
        ids.setncattr("name", "ID")
        ids[:] = [mesh.sideset_ids.get(name, index) for index, (name, _) in enumerate(sets)]
        _names(dataset, "ss_names", "num_side_sets", [name for name, _ in sets])
        for index, (_, sides) in enumerate(sets, start=1):
            dataset.createDimension(f"num_side_ss{index}", len(sides))
            dataset.createVariable(f"elem_ss{index}", "i4", (f"num_side_ss{index}",))[:] = place[sides[:, 0]] + 1
            dataset.createVariable(f"side_ss{index}", "i4", (f"num_side_ss{index}",))[:] = mesh.type.exodus_sides[
                sides[:, 1]
            ]

    def _nodesets(self, mesh: Mesh) -> None:
        dataset = self._dataset
        sets = [(name, mesh.boundary_nodes(name)) for name in mesh.boundary_names()]
        sets = [(name, nodes) for name, nodes in sets if len(nodes)]
        if not sets:
            return
        dataset.createDimension("num_node_sets", len(sets))
        dataset.createVariable("ns_status", "i4", ("num_node_sets",))[:] = 1
        ids = dataset.createVariable("ns_prop1", "i4", ("num_node_sets",))
        ids.setncattr("name", "ID")
        ids[:] = [mesh.sideset_ids.get(name, 100 + index) for index, (name, _) in enumerate(sets)]
        _names(dataset, "ns_names", "num_node_sets", [name for name, _ in sets])
        for index, (_, nodes) in enumerate(sets, start=1):
            dataset.createDimension(f"num_nod_ns{index}", len(nodes))
            dataset.createVariable(f"node_ns{index}", "i4", (f"num_nod_ns{index}",))[:] = nodes + 1

    def _variables(self) -> None:
        dataset = self._dataset
        if self._nodal:
            dataset.createDimension("num_nod_var", len(self._nodal))
            _names(dataset, "name_nod_var", "num_nod_var", self._nodal)
            for index in range(1, len(self._nodal) + 1):
                dataset.createVariable(f"vals_nod_var{index}", "f8", ("time_step", "num_nodes"))
        if self._elemental:
            dataset.createDimension("num_elem_var", len(self._elemental))
            _names(dataset, "name_elem_var", "num_elem_var", self._elemental)
            table = dataset.createVariable("elem_var_tab", "i4", ("num_el_blk", "num_elem_var"))
            table[:] = 1
            for index in range(1, len(self._elemental) + 1):
                for block in range(1, len(self._members) + 1):
                    name = f"vals_elem_var{index}eb{block}"
                    dataset.createVariable(name, "f8", ("time_step", f"num_el_in_blk{block}"))
        if self._scalars:
            dataset.createDimension("num_glo_var", len(self._scalars))
            _names(dataset, "name_glo_var", "num_glo_var", self._scalars)
            dataset.createVariable("vals_glo_var", "f8", ("time_step", "num_glo_var"))

    def write(
        self, time: float, nodal: dict[str, np.ndarray], elemental: dict[str, np.ndarray], scalars: dict[str, float]
    ) -> None:
        """Append a step.

        :param nodal: ``(n_nodes,)`` each
        :param elemental: ``(n_elements,)`` each
        """
        dataset, step = self._dataset, self._steps
        dataset["time_whole"][step] = time
        for index, name in enumerate(self._nodal, start=1):
            dataset[f"vals_nod_var{index}"][step, :] = nodal[name]
        for index, name in enumerate(self._elemental, start=1):
            for block, members in enumerate(self._members, start=1):
                dataset[f"vals_elem_var{index}eb{block}"][step, :] = elemental[name][members]
        if self._scalars:
            dataset["vals_glo_var"][step, :] = [scalars[name] for name in self._scalars]
        self._steps += 1
        dataset.sync()

    def close(self) -> None:
        """Finish the file."""
        self._dataset.close()
