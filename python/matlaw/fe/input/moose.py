"""Names that MOOSE knows and matlaw-fe may not: only used to word errors.

They are in ``moose_names.json``, which ``scripts/list_moose_names.py`` writes.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

#: words in an error about something that MOOSE has
ALSO = " (MOOSE has it, matlaw-fe does not)"


@cache
def _names() -> dict[str, Any]:
    names: dict[str, Any] = json.loads(Path(__file__).with_name("moose_names.json").read_text(encoding="utf-8"))
    return names


def also_type(system: str, name: str) -> str:
    """:data:`ALSO` when MOOSE has a type in a system (``BCs``, ``Kernels`` ...), else nothing."""
    return ALSO if name in _names()["types"].get(system, ()) else ""


def also_block(name: str) -> str:
    """:data:`ALSO` when MOOSE has a top-level block."""
    return ALSO if name in _names()["blocks"] else ""


def also_parameter(kind: str, name: str) -> str:
    """:data:`ALSO` when MOOSE's type (or a block without a type) has a parameter."""
    known = _names()["parameters"].get(kind)
    return ALSO if name in (_BLOCK_PARAMETERS if known is None else known) else ""


#: parameters of blocks without a type: shorthands, variables, outputs
_BLOCK_PARAMETERS = frozenset(
    """control_tags enable use_displaced_mesh execute_on prop_getter_suffix matrix_tags vector_tags extra_vector_tags
    extra_matrix_tags absolute_value_vector_tags diag_save_in seed implicit outputs output_properties declare_suffix
    constant_on computation boundary compute scheme automatic_scaling compute_scaling_once picard_max_its
    fixed_point_max_its steady_state_detection steady_state_tolerance abort_on_solve_fail use_multiapp_dt reset_dt
    force_step_every_function_point timestep_limiting_function max_function_change timestep_limiting_postprocessor
    reject_large_step reject_large_step_threshold time_t time_dt linear_iteration_ratio time_periods
    eigenstrain_names decomposition_method planar_formulation base_name use_finite_deform_jacobian temperature
    thermal_eigenstrain_name out_of_plane_strain constrain_types additional_generate_output_family
    additional_generate_output_order automatic_eigenstrain_names scalar_out_of_plane_strain
    use_automatic_differentiation second_order parallel_type partitioner uniform_refine
    construct_side_list_from_node_list block_id block_name
       initial_condition scaling components array eigen initial_from_file_var sync_times start_step end_step
    time_step_interval interval minimum_time_interval sync_only append_date gauss_lobatto_grid elem_type show hide
    additional_execute_on execute_vector_postprocessors_on execute_postprocessors_on show_material_properties
    elemental_as_nodal output_dimension discontinuous sequence""".split()
)
