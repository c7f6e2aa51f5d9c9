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

_SMALL_STRAIN = Parameter("bool", False, check=(lambda value: not value, "false (the undeformed mesh)"))
_PHYSICS = {
    "displacements": Parameter("strings"),
    "strain": Parameter("string", "SMALL", choices=("SMALL", "FINITE")),
    "incremental": Parameter("bool", False),
    "new_system": Parameter("bool", False),
    "formulation": Parameter("string", "TOTAL", choices=("TOTAL", "UPDATED")),
    "planar_formulation": Parameter(
        "string",
        "NONE",
        choices=("NONE", "PLANE_STRAIN", "AXISYMMETRIC", "WEAK_PLANE_STRESS", "GENERALIZED_PLANE_STRAIN"),
    ),
    "add_variables": Parameter("bool", False),
    "scaling": Parameter("real"),
    "generate_output": Parameter("strings", []),
    "block": Parameter("strings"),
    "save_in": Parameter("strings", []),
    "volumetric_locking_correction": Parameter("bool", False),
    "use_displaced_mesh": _SMALL_STRAIN,
    "material_output_order": Parameter("strings", ["CONSTANT"], ignored=True),
    "material_output_family": Parameter("strings", ["MONOMIAL"], ignored=True),
    "temperature": Parameter("string", ignored=True),
    "use_automatic_differentiation": Parameter("bool", ignored=True),
}

_ACTION = {
    "displacements": Parameter("strings"),
    "save_in": Parameter("strings", []),
    "block": Parameter("strings"),
    "volumetric_locking_correction": Parameter("bool", False),
    "use_displaced_mesh": _SMALL_STRAIN,
}

_TENSORS = {
    "stress": "stress",
    "cauchy_stress": "cauchy_stress",
    "pk1_stress": "pk1_stress",
    "strain": "total_strain",
    "mechanical_strain": "mechanical_strain",
    "deformation_gradient": "deformation_gradient",
}
_INVARIANTS = {
    "vonmises": "VonMisesStress",
    "hydrostatic": "Hydrostatic",
    "l2norm": "L2norm",
    "max_principal": "MaxPrincipal",
    "mid_principal": "MidPrincipal",
    "min_principal": "MinPrincipal",
    "triaxiality": "TriaxialityStress",
    "firstinv": "FirstInvariant",
    "secondinv": "SecondInvariant",
    "thirdinv": "ThirdInvariant",
    "volumetric": "VolumetricStrain",
    "effective": "EffectiveStrain",
}
#: invariants that only stresses or only strains have
_STRESS_ONLY = ("vonmises", "hydrostatic", "triaxiality")
_STRAIN_ONLY = ("volumetric", "effective")
_SCALARS = {
    f"{word}_{name}": (tensor, scalar)
    for name, tensor in _TENSORS.items()
    for word, scalar in _INVARIANTS.items()
    if name != "deformation_gradient" and word not in (_STRAIN_ONLY if "stress" in name else _STRESS_ONLY)
}


def expand(root: Block, order: int = 1, axisymmetric: bool = False) -> None:
    """Write out every shorthand of an input, in place.

    :param order: of the elements, and so of displacement variables that are added
    :param axisymmetric: coord_type = RZ
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
            _expand_physics(root, below, Values(below, _PHYSICS, common), order, axisymmetric)
    kernels = root.blocks.get("Kernels")
    if kernels is not None:
        for name in ("TensorMechanics", "SolidMechanics"):
            action = kernels.blocks.get(name)
            if action is not None and "type" not in action.fields:
                del kernels.blocks[name]
                check_fields(action, _ACTION, f"[Kernels/{name}]")
                values = Values(action, _ACTION, shared)
                _add_kernels(root, action, _displacements(values), values, axisymmetric)


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


def _add_kernels(root: Block, source: Block, displacements: list[str], values: Values, axisymmetric: bool) -> None:
    save_in = values["save_in"]
    if save_in and len(save_in) != len(displacements):
        raise values.error(f"expected {len(displacements)} names, one per displacement", "save_in")
    total = bool(values.get("new_system"))
    kind = "StressDivergenceRZTensors" if axisymmetric else "StressDivergenceTensors"
    if total:
        kind = "TotalLagrangianStressDivergence" + ("AxisymmetricCylindrical" if axisymmetric else "")
    for component, variable in enumerate(displacements):
        fields = {
            "type": kind,
            "variable": variable,
            "component": str(component),
            "displacements": " ".join(displacements),
            **(_large(values) if total else _locking(values)),
            **({"use_displaced_mesh": "false"} if axisymmetric and not total else {}),
            **_block_field(values),
        }
        if save_in:
            fields["save_in"] = save_in[component]
        _add(root, "Kernels", f"{source.name}_{variable}", source, fields)


def _large(values: Values) -> dict[str, str]:
    return {"large_kinematics": str(values["strain"].upper() == "FINITE").lower()}


def _locking(values: Values) -> dict[str, str]:
    return {"volumetric_locking_correction": str(values["volumetric_locking_correction"]).lower()}


def _check_physics(values: Values, axisymmetric: bool) -> None:
    finite, total = values["strain"].upper() == "FINITE", values["new_system"]
    if finite and not total:
        raise values.error(
            "only SMALL is available, or FINITE with new_system = true, the total Lagrangian formulation "
            "(MOOSE has FINITE without it as well)",
            "strain",
        )
    if total and values["formulation"].upper() != "TOTAL":
        raise values.error("only TOTAL is available (MOOSE has UPDATED as well)", "formulation")
    if total and values["volumetric_locking_correction"]:
        raise values.error("is for new_system = false (MOOSE has F-bar)", "volumetric_locking_correction")
    planar = values["planar_formulation"].upper()
    if planar in ("WEAK_PLANE_STRESS", "GENERALIZED_PLANE_STRAIN"):
        raise values.error(
            "only NONE, PLANE_STRAIN and AXISYMMETRIC are available (MOOSE has it)", "planar_formulation"
        )
    if planar != "NONE" and (planar == "AXISYMMETRIC") != axisymmetric:
        raise values.error("AXISYMMETRIC goes with coord_type = RZ in [Mesh]", "planar_formulation")


def _expand_physics(root: Block, source: Block, values: Values, order: int, axisymmetric: bool) -> None:
    _check_physics(values, axisymmetric)
    displacements = _displacements(values)
    if values["add_variables"]:
        fields = {"order": "SECOND" if order == 2 else "FIRST"}
        if values["scaling"] is not None:
            fields["scaling"] = repr(values["scaling"])
        for variable in displacements:
            _add(root, "Variables", variable, source, {**fields, **_block_field(values)})
    _add_kernels(root, source, displacements, values, axisymmetric)
    strain = "ComputeIncrementalSmallStrain" if values["incremental"] else "ComputeSmallStrain"
    _add(
        root,
        "Materials",
        f"{source.name}_strain",
        source,
        {
            "type": "ComputeLagrangianStrain" if values["new_system"] else strain,
            "displacements": " ".join(displacements),
            **(_large(values) if values["new_system"] else _locking(values)),
            **_block_field(values),
        },
    )
    for output in values["generate_output"]:
        fields = _output(output.lower()) or {}
        if not fields:
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
