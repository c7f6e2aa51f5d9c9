"""The ``[Mesh]`` block: one mesh, or generators that feed each other."""

from __future__ import annotations

from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import check_fields, create
from matlaw.fe.input.tree import Block
from matlaw.fe.mesh.generators import MeshGenerator
from matlaw.fe.mesh.mesh import Mesh

#: parameters of [Mesh] itself that may stand beside generators
_COMMON = {
    "final_generator": Parameter("string"),
    "displacements": Parameter("strings", ignored=True),
    "construct_side_list_from_node_list": Parameter("bool", False, ignored=True),
    "coord_type": Parameter("strings", ignored=True),
    "rz_coord_axis": Parameter("string", "Y", choices=("Y",)),
    "parallel_type": Parameter("string", "DEFAULT", ignored=True),
}


def build_mesh(block: Block, shared: Block | None = None) -> Mesh:
    """The mesh that a ``[Mesh]`` block describes.

    :raises InputFileError: an unknown or circular ``input``, several last generators, or a wrong parameter
    """
    if not block.blocks:
        fields = {name: item for name, item in block.fields.items() if name not in _COMMON}
        plain = Block(block.name, block.path, block.location, fields)
        generator: MeshGenerator = create("Mesh", plain, shared, default="GeneratedMesh")
        return generator.generate(None)
    if "type" in block.fields:
        raise block.fields["type"].error("[Mesh] has both a type and generators; keep one of the two")
    check_fields(block, _COMMON, "[Mesh] with generators")
    values = Values(block, _COMMON)
    generators: dict[str, MeshGenerator] = {name: create("Mesh", below, shared) for name, below in block.blocks.items()}
    inputs = {name: generator.values.get("input") for name, generator in generators.items()}
    for name, source in inputs.items():
        if source is not None and source not in generators:
            raise generators[name].values.error(f"no generator '{source}'; there are: {', '.join(generators)}", "input")
    last = [name for name in generators if name not in inputs.values()]
    if values["final_generator"] is not None:
        if values["final_generator"] not in generators:
            raise values.error(f"there are: {', '.join(generators)}", "final_generator")
        last = [values["final_generator"]]
    if len(last) != 1:
        raise block.error(
            f"the last generator is not unique ({', '.join(last)}); set final_generator"
            if last
            else "inputs are circular"
        )
    chain: list[str] = []
    link: str | None = last[0]
    while link is not None:
        if link in chain:
            raise generators[link].values.error("inputs are circular", "input")
        chain.append(link)
        link = inputs[link]
    mesh: Mesh | None = None
    for name in reversed(chain):
        mesh = generators[name].generate(mesh)
    if mesh is None:
        raise block.error("no generator")
    return mesh
