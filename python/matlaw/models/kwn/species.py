"""Lists of one entry for each species."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.model import Leaf


class SpeciesLeaf(Leaf):
    """A model whose list options have one entry for each species."""

    def check_lengths(self, context: Context, first: str, *others: str) -> None:
        """Makes sure that the other lists are as long as the first.

        :raises InputFileError: one is not, or the first is empty
        """
        count = len(context.option(first))
        if not count:
            raise context.error("expected at least one species", first)
        for option in others:
            if len(context.option(option)) != count:
                raise context.error(
                    f"expected {count} entries, as many as '{first}' has, got {len(context.option(option))}", option
                )
