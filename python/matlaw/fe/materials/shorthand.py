"""Shorthands that stand for kernels, strains, variables and outputs: written out as the blocks that they mean."""

from __future__ import annotations

from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import check_fields
from matlaw.fe.input.tree import Block, Field

#: where the physics shorthand may stand
PHYSICS_PATHS = (
    "Physics/SolidMechanics/QuasiStatic",
    "Modules/TensorMechanics/Master",
    "Modules/SolidMechanics/Master",
)

_PHYSICS = {
    "displacements": Parameter("strings"),
    "strain": Parameter("string", "SMALL", choices=("SMALL", "FINITE")),
    "incremental": Parameter("bool", False),
    "add_variables": Parameter("bool", False),
    "generate_output": Parameter("strings", []),
    "block": Parameter("strings"),
    "save_in": Parameter("strings", []),
    "volumetric_locking_correction": Parameter("bool", False),
    "use_displaced_mesh": Parameter("bool", False, check=(lambda value: not value, "false (small strain)")),
    "material_output_order": Parameter("strings", ["CONSTANT"], ignored=True),
    "material_output_family": Parameter("strings", ["MONOMIAL"], ignored=True),
    "new_system": Parameter("bool", False, check=(lambda value: not value, "false")),
}

_ACTION = {
    "displacements": Parameter("strings"),
    "save_in": Parameter("strings", []),
    "block": Parameter("strings"),
    "volumetric_locking_correction": Parameter("bool", False),
    "use_displaced_mesh": Parameter("bool", False, check=(lambda value: not value, "false (small strain)")),
}

_TENSORS = {"stress": "stress", "strain": "total_strain"}
_SCALARS = {
    "vonmises_stress": ("stress", "VonMisesStress"),
    "hydrostatic_stress": ("stress", "Hydrostatic"),
    "l2norm_stress": ("stress", "L2norm"),
    "max_principal_stress": ("stress", "MaxPrincipal"),
    "mid_principal_stress": ("stress", "MidPrincipal"),
    "min_principal_stress": ("stress", "MinPrincipal"),
    "triaxiality_stress": ("stress", "TriaxialityStress"),
    "firstinv_stress": ("stress", "FirstInvariant"),
    "secondinv_stress": ("stress", "SecondInvariant"),
    "thirdinv_stress": ("stress", "ThirdInvariant"),
    "volumetric_strain": ("total_strain", "VolumetricStrain"),
    "l2norm_strain": ("total_strain", "L2norm"),
    "max_principal_strain": ("total_strain", "MaxPrincipal"),
    "mid_principal_strain": ("total_strain", "MidPrincipal"),
    "min_principal_strain": ("total_strain", "MinPrincipal"),
}


def expand(root: Block) -> None:
    """Write out every shorthand of an input, in place.

    :raises InputFileError: a wrong parameter or an output that cannot be generated
    """
    shared = root.blocks.get("GlobalParams")
    for path in PHYSICS_PATHS:
        block = root.find(path)
        if block is None:
            continue
        common = Block(block.name, block.path, block.location, {**(shared.fields if shared else {}), **block.fields})
        for below in block.blocks.values():
            check_fields(below, _PHYSICS, "QuasiStatic solid mechanics")
            _expand_physics(root, below, Values(below, _PHYSICS, common))
    kernels = root.blocks.get("Kernels")
    if kernels is not None:
        for name in ("TensorMechanics", "SolidMechanics"):
            action = kernels.blocks.get(name)
            if action is not None and "type" not in action.fields:
                del kernels.blocks[name]
                check_fields(action, _ACTION, f"[Kernels/{name}]")
                values = Values(action, _ACTION, shared)
                _add_kernels(root, action, _displacements(values), values)


def _displacements(values: Values) -> list[str]:
    names = values["displacements"]
    if not names:
        raise values.error("the parameter 'displacements' is missing")
    return list(names)


def _system(root: Block, name: str, location: str) -> Block:
    return root.blocks.setdefault(name, Block(name, name, location))


def _add(root: Block, system: str, name: str, source: Block, fields: dict[str, str]) -> None:
    parent = _system(root, system, source.location)
    if name in parent.blocks:
        return
    path = f"{system}/{name}"
    parent.blocks[name] = Block(
        name, path, source.location, {key: Field(key, value, source.location) for key, value in fields.items()}
    )


def _block_field(values: Values) -> dict[str, str]:
    return {"block": " ".join(values["block"])} if values["block"] else {}


def _add_kernels(root: Block, source: Block, displacements: list[str], values: Values) -> None:
    save_in = values["save_in"]
    if save_in and len(save_in) != len(displacements):
        raise values.error(f"expected {len(displacements)} names, one per displacement", "save_in")
    for component, variable in enumerate(displacements):
        fields = {
            "type": "StressDivergenceTensors",
            "variable": variable,
            "component": str(component),
            "displacements": " ".join(displacements),
            "volumetric_locking_correction": str(values["volumetric_locking_correction"]).lower(),
            **_block_field(values),
        }
        if save_in:
            fields["save_in"] = save_in[component]
        _add(root, "Kernels", f"{source.name}_{variable}", source, fields)


def _expand_physics(root: Block, source: Block, values: Values) -> None:
    if values["strain"].upper() != "SMALL":
        raise values.error("only SMALL is available (MOOSE has FINITE as well)", "strain")
    displacements = _displacements(values)
    if values["add_variables"]:
        for variable in displacements:
            _add(root, "Variables", variable, source, {})
    _add_kernels(root, source, displacements, values)
    _add(
        root,
        "Materials",
        f"{source.name}_strain",
        source,
        {
            "type": "ComputeIncrementalSmallStrain" if values["incremental"] else "ComputeSmallStrain",
            "displacements": " ".join(displacements),
            "volumetric_locking_correction": str(values["volumetric_locking_correction"]).lower(),
            **_block_field(values),
        },
    )
    for output in values["generate_output"]:
        fields = _output(output.lower())
        if fields is None:
            known = [f"{tensor}_{i}{j}" for tensor in _TENSORS for i in "xyz" for j in "xyz"] + list(_SCALARS)
            raise values.error(f"'{output}' cannot be generated; available: {', '.join(known)}", "generate_output")
        _add(root, "AuxVariables", output, source, {"order": "CONSTANT", "family": "MONOMIAL"})
        _add(root, "AuxKernels", output, source, {**fields, "variable": output, **_block_field(values)})


def _output(name: str) -> dict[str, str] | None:
    if name in _SCALARS:
        tensor, scalar = _SCALARS[name]
        return {"type": "RankTwoScalarAux", "rank_two_tensor": tensor, "scalar_type": scalar}
    tensor, _, indices = name.rpartition("_")
    if tensor in _TENSORS and len(indices) == 2 and set(indices) <= set("xyz"):
        i, j = ("xyz".index(axis) for axis in indices)
        return {"type": "RankTwoAux", "rank_two_tensor": _TENSORS[tensor], "index_i": str(i), "index_j": str(j)}
    return None
