"""``[Tensors]`` entries read from the columns of a CSV file."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import ClassVar

import torch

from matlaw.errors import InputFileError
from matlaw.input.suggestion import unknown_name
from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.number import parse_number
from matlaw.models.registry import register
from matlaw.tensors import SR2, WR2, Scalar, Tensor, Vec, to_internal

_SPECIAL = {"nan": float("nan"), "inf": float("inf"), "+inf": float("inf"), "-inf": float("-inf")}


class CSVTensor:
    """One tensor per line of a CSV file with a line of column names, ``(N, *base)``.

    Components are taken as the file has them: shear components of a symmetric tensor already carry the factor sqrt(2).
    Empty lines and lines that start with ``#`` are skipped; every other line has as many values as there are names.

    * ``csv_file``: the file, relative to the input file
    * ``variable``: what the column names begin with; the components' suffixes are appended
    * ``column_names``: the column names themselves, instead of ``variable``

    :ivar value: the tensor
    :ivar batch_shape: ``(N,)``
    """

    csv_file = Option("str", "the file, relative to the input file")
    variable = Option("str", "what the column names begin with", required=False)
    column_names = Option("list", "the column names, instead of variable", required=False)

    kind: ClassVar[type[Tensor]] = Scalar
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def __init__(self, context: Context) -> None:
        names = self._names(context)
        path = Path(context.directory()) / context.option("csv_file")
        columns = _read_columns(path, names, context)
        data = torch.tensor(columns, dtype=torch.float64).reshape(len(names), -1).T
        public = data.reshape(-1, *self.kind.base_shape)
        self.value: Tensor = to_internal(public, self.kind)
        self.batch_shape: tuple[int, ...] = (public.shape[0],)

    def _names(self, context: Context) -> list[str]:
        variable, names = context.option("variable"), list(context.option("column_names"))
        if bool(variable) == bool(names):
            problem = "not both" if variable else "but neither is given"
            raise context.error(f"expected either 'variable' or 'column_names', {problem}", "variable")
        if variable:
            return [variable + suffix for suffix in self.suffixes]
        if len(names) != len(self.suffixes):
            raise context.error(
                f"expected {len(self.suffixes)} columns for a {self.kind.__name__}, got {len(names)}", "column_names"
            )
        return names


def _read_columns(path: Path, names: list[str], context: Context) -> list[list[float]]:
    """The values of the named columns.

    :raises InputFileError: the file cannot be read, has no such column, or holds something that is not a number
    """
    (_, header), *rows = _read_rows(path, context)
    for name in names:
        if header.count(name) > 1:
            raise context.error(f"'{path}': {header.count(name)} columns are called '{name}'", "csv_file")
        if name not in header:
            raise context.error(f"'{path}': {unknown_name('column', name, header)}", "csv_file")
    if not rows:
        raise context.error(f"'{path}' has a line of column names and no values", "csv_file")
    places = [header.index(name) for name in names]
    found: list[list[float]] = [[] for _ in names]
    for number, row in rows:
        if len(row) < len(header) or any(row[len(header) :]):
            raise context.error(
                f"'{path}', line {number}: expected {len(header)} values, as there are column names, got {len(row)}",
                "csv_file",
            )
        for column, place, name in zip(found, places, names, strict=True):
            column.append(_number(row[place], path, number, name, context))
    return found


def _read_rows(path: Path, context: Context) -> list[tuple[int, list[str]]]:
    """The number and the values of every line that has some.

    :raises InputFileError: the file cannot be read or has no such lines
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise context.error(f"'{path}' cannot be read: {reason}", "csv_file") from error
    rows = []
    for number, line in enumerate(io.StringIO(text), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.count('"') % 2:
            raise context.error(f"'{path}', line {number}: a quote has to end in its line", "csv_file")
        try:
            [row] = csv.reader([line], skipinitialspace=True)
        except csv.Error as error:
            raise context.error(f"'{path}', line {number}: {error}", "csv_file") from error
        rows.append((number, [value.strip() for value in row]))
    if not rows:
        raise context.error(f"'{path}' is empty; expected a line of column names", "csv_file")
    return rows


def _number(text: str, path: Path, line: int, column: str, context: Context) -> float:
    number = _SPECIAL.get(text.lower(), parse_number(text))
    if number is None:
        raise _not_a_number(text, path, line, column, context)
    return number


def _not_a_number(text: str, path: Path, line: int, column: str, context: Context) -> InputFileError:
    return context.error(f"'{path}', line {line}, column '{column}': expected a number, got '{text}'", "csv_file")


@register("CSVScalar", section="Tensors")
class CSVScalar(CSVTensor):
    """Scalars from one column, ``(N,)``; see :class:`CSVTensor`."""


@register("CSVVec", section="Tensors")
class CSVVec(CSVTensor):
    """Vectors from the columns ``_x _y _z``, ``(N, 3)``; see :class:`CSVTensor`."""

    kind = Vec
    suffixes = ("_x", "_y", "_z")


@register("CSVSR2", section="Tensors")
class CSVSR2(CSVTensor):
    """Symmetric tensors from the columns ``_xx _yy _zz _yz _xz _xy``, ``(N, 6)``; see :class:`CSVTensor`."""

    kind = SR2
    suffixes = ("_xx", "_yy", "_zz", "_yz", "_xz", "_xy")


@register("CSVWR2", section="Tensors")
class CSVWR2(CSVTensor):
    """Skew tensors from the columns ``_zy _xz _yx``, ``(N, 3)``; see :class:`CSVTensor`."""

    kind = WR2
    suffixes = ("_zy", "_xz", "_yx")
