"""Write outer products as a loop over their rows and columns."""

from __future__ import annotations

from collections.abc import Iterable

from matlaw.ir.program import OuterProducts, Place, positions
from matlaw.ir.values import Value


class OuterProductLoop:
    """Outer products: their factors into arrays as they become known, and in the end the products.

    :param name: what arrays are called after
    :param output: the pointer to the output
    """

    def __init__(self, name: str, output: str, block: OuterProducts, sites: int) -> None:
        self.name = name
        self.output = output
        self.sides = {"p": block.rows, "q": block.columns}
        self.count = len(block.rows[0][0])
        self.positions = {side: positions((place for _, place in of), sites) for side, of in self.sides.items()}
        self.sites = sites

    def tables(self) -> str:
        """Where rows and columns are."""
        return "".join(
            f"static const int32_t {side}{self.name}[] = {{{', '.join(map(str, found))}}};\n"
            for side, found in self.positions.items()
        )

    def arrays(self) -> dict[str, int]:
        """The arrays of factors, those of a row or column side by side, and their lengths."""
        return {f"f{side}{self.name}": len(found) * self.count for side, found in self.positions.items()}

    def declarations(self, storage: str) -> Iterable[str]:
        """The definitions of these arrays.

        :param storage: from :func:`matlaw.lower.native.storage.storage_of`
        """
        return (f"{storage}rows {name}[{length}];" for name, length in self.arrays().items())

    def factors(self) -> Iterable[tuple[Value, str, Place]]:
        """All factors, and where they go."""
        for side, of in self.sides.items():
            start = 0
            for values, place in of:
                for k, v in enumerate(values):
                    yield v, f"f{side}{self.name}", Place(start + k, self.count if place.stride else 0)
                start += self.count * (self.sites if place.stride else 1)

    def loop(self) -> Iterable[str]:
        """Adds the products to the output."""
        n = self.name
        yield "// outer products: derivatives through what many depend on"
        yield f"for (int64_t r = 0; r < {len(self.positions['p'])}; ++r)"
        yield f"  for (int64_t c = 0; c < {len(self.positions['q'])}; ++c)"
        yield "  {"
        yield f"    real * const at = {self.output} + (p{n}[r] + q{n}[c]) * ld;"
        yield "    rows sum = load(at, i);"
        yield f"    for (int64_t k = 0; k < {self.count}; ++k)"
        yield f"      sum = sum + fp{n}[r * {self.count} + k] * fq{n}[c * {self.count} + k];"
        yield "    store(at, i, sum);"
        yield "  }"
