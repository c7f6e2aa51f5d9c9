"""Write the names of MOOSE's objects and parameters to python/matlaw/fe/input/moose_names.json.

    python scripts/list_moose_names.py MOOSE_EXECUTABLE

matlaw-fe uses them to say, of what it does not have, that MOOSE does. The executable should hold the solid mechanics
and heat transfer modules; its ``--json`` tells all that it knows.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import matlaw.fe  # noqa: F401  (registers the objects of matlaw-fe)
from matlaw.fe.input.registry import lookup, types_of
from matlaw.fe.input.tree import Block, Field

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "python" / "matlaw" / "fe" / "input" / "moose_names.json"
SYSTEMS = ("Mesh", "Functions", "ICs", "Kernels", "Materials", "BCs", "AuxKernels", "Postprocessors", "Outputs")
BELOW = ("TimeStepper", "Predictor")


def types_in(block: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All types below a block of the syntax."""
    found: dict[str, dict[str, Any]] = {}
    for key, value in block.items():
        if key in ("types", "subblock_types"):
            found |= {name: body for name, body in (value or {}).items() if "parameters" in body}
        elif isinstance(value, dict) and key != "parameters":
            found |= types_in(value)
    return found


def main(program: str) -> None:
    """Ask a MOOSE and write the file."""
    said = subprocess.run([program, "--json"], capture_output=True, text=True, check=True).stdout
    syntax = json.loads(said.split("**START JSON DATA**")[1].split("**END JSON DATA**")[0])
    blocks = syntax["blocks"]
    known = {system: types_in(blocks.get(system, {})) for system in SYSTEMS}
    executioner = blocks["Executioner"]
    for name in BELOW:
        known[name] = types_in(executioner.get("subblocks", {}).get(name, {}))
    known["Executioner"] = dict(executioner.get("types") or {})
    parameters: dict[str, list[str]] = {}
    for system, types in known.items():
        for name in types_of(system):
            if name in types:
                block = Block("b", "b", "", {"type": Field("type", name, "")})
                ours = lookup(system, block).parameters
                parameters[name] = sorted(set(types[name]["parameters"]) - set(ours) - {"type"})
    names = {
        "types": {system: sorted(types) for system, types in known.items()},
        "blocks": sorted(blocks),
        "parameters": parameters,
    }
    TARGET.write_text(json.dumps(names, indent=0, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
