"""The HIT stub beside an artifact: the input file with the model replaced by a reference to the artifact."""

from __future__ import annotations

import nmhit

from matlaw.hit import STUB_HEAD

#: Sections whose content travels inside the artifact.
_BAKED = ("Solvers", "EquationSystems", "Data")


def render_stub(text: str, name: str, source_file: str) -> str:
    """The stub.

    :param text: the input file
    :param name: the model that was compiled
    :param source_file: name of the input file, for the comment at the top
    """
    parts = []
    for node in nmhit.parse_text(text).children():
        is_section = node.type() == nmhit.NodeType.Section
        if is_section and node.path() in _BAKED:
            continue
        parts.append(_models(node, name) if is_section and node.path() == "Models" else str(node.render()).strip())
    head = (
        f"{STUB_HEAD}{source_file}.\n"
        f"# Drop-in replacement for the original [{name}] model.\n"
        "# Do not edit; regenerate via `matlaw-compile`.\n\n"
    )
    return head + "\n".join(part for part in parts if part) + "\n"


def _models(section: nmhit.Node, name: str) -> str:
    """The section with the block of the compiled model replaced."""
    lines = ["[Models]"]
    for node in section.children():
        if node.type() == nmhit.NodeType.Section and node.path() == name:
            lines.append(f"  [{name}]\n    type = AOTIModel\n    artifact_path = '{name}'\n  []")
        else:
            lines.append(str(node.render(1)).rstrip().lstrip("\n"))
    return "\n".join([*(line for line in lines if line.strip()), "[]"])
