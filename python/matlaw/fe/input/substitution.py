"""``${...}`` in an input file: variables and ``fparse`` expressions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from matlaw.fe.functions.expression import ExpressionError, compile_expression

if TYPE_CHECKING:
    from matlaw.fe.input.tree import Block, Field

_INNERMOST = re.compile(r"\$\{([^${}]*)\}")


def substitute(root: Block) -> None:
    """Replace every ``${name}``, ``${fparse expression}`` and ``${raw a b}`` in place, innermost first.

    A name is looked for in the block that uses it and in those around it.
    """
    _descend(root, [root])


def _descend(block: Block, around: list[Block]) -> None:
    for name, item in block.fields.items():
        block.fields[name] = _replaced(item, around, (item.name,))
    for below in block.blocks.values():
        _descend(below, [*around, below])


def _replaced(item: Field, around: list[Block], seen: tuple[str, ...]) -> Field:
    value = item.value
    while True:
        match = _INNERMOST.search(value)
        if match is None:
            return replace(item, value=value)
        value = value[: match.start()] + _evaluate(match.group(1).strip(), item, around, seen) + value[match.end() :]


def _lookup(name: str, item: Field, around: list[Block], seen: tuple[str, ...]) -> str | None:
    for depth in range(len(around), 0, -1):
        found = around[depth - 1].fields.get(name)
        if found is None or found is item:
            continue
        if name in seen:
            raise item.error(f"'${{{name}}}' refers to itself")
        return _replaced(found, around[:depth], (*seen, name)).value
    return None


def _evaluate(content: str, item: Field, around: list[Block], seen: tuple[str, ...]) -> str:
    command, _, rest = content.partition(" ")
    if command == "fparse":
        expression = rest.strip()
        names = sorted(set(re.findall(r"[A-Za-z_]\w*", expression)))
        constants = {}
        for name in names:
            value = _lookup(name, item, around, seen)
            if value is not None:
                try:
                    constants[name] = float(value)
                except ValueError:
                    raise item.error(f"'{name} = {value}' is not a number, in '${{{content}}}'") from None
        try:
            return repr(float(compile_expression(expression, (), constants)()))
        except ExpressionError as error:
            raise item.error(f"in '${{{content}}}': {error}") from error
    if command == "raw":
        return "".join(rest.split())
    if command == "replace":
        content = rest.strip()
    elif rest:
        raise item.error(f"'${{{command} ...}}' is not supported; MOOSE has it, matlaw-fe has fparse, raw and replace")
    value = _lookup(content, item, around, seen)
    if value is None:
        raise item.error(f"no variable '{content}' for '${{{content}}}' in this block or those around it")
    return value
