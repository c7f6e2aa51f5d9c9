"""Values through which many derivatives lead: there they are taken in two steps.

Where many outputs depend on many inputs through one value, a mean of all sites say, each of them has a derivative by
each: ``dy_i/dx_j = a_i b_j + ...`` with ``a_i = dy_i/dm`` and ``b_j = dm/dx_j``. The factors are as many as there are
outputs and inputs, their products as many as there are pairs.

Source: A. Griewank and A. Walther, Evaluating Derivatives, SIAM (2008), section 10.3, interface contractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from matlaw.ir.program import reachable
from matlaw.ir.values import Value

#: From so many pairs on of inputs and outputs, those of all necks together, derivatives are taken in two steps.
PAIRS: Final = 4096
#: Each neck is between at least so many of each.
FEWEST: Final = 16


def find_necks(outputs: Sequence[Value], seeds: Sequence[Value]) -> set[int]:
    """The identities of the necks.

    These are values between many seeds and many outputs that are used more than once: others can wait for what uses
    them. What varies over sites is none: it leads to derivatives at the same site only.

    :param outputs: what is to be differentiated
    :param seeds: by what
    :returns: none where they spare too little

    >>> from matlaw.ir.values import Pool
    >>> pool = Pool()
    >>> x = [pool.input(0, k) for k in range(100)]
    >>> total = x[0]
    >>> for v in x[1:]:
    ...     total = pool.add(total, v)
    >>> find_necks([pool.mul(total, v) for v in x], x) == {total.id}
    True
    """
    every = reachable(outputs)
    uses = Counter(a.id for v in every for a in v.args) + Counter(v.id for v in outputs)
    reaches = {v.id: 0 for v in every}
    for k, v in enumerate(outputs):
        reaches[v.id] |= 1 << k
    for v in reversed(every):
        for a in v.args:
            reaches[a.id] |= reaches[v.id]
    depends = {v.id: 1 << k for k, v in enumerate(seeds)}
    found: set[int] = set()
    pairs = 0
    for v in every:
        if v.id in depends or v.is_mask:
            continue
        mask = 0
        for a in v.args:
            mask |= depends.get(a.id, 0)
        above, below = mask.bit_count(), reaches[v.id].bit_count()
        if not v.varies and uses[v.id] > 1 and min(above, below) >= FEWEST:
            mask = 1 << (len(seeds) + len(found))
            found.add(v.id)
            pairs += above * below
        depends[v.id] = mask
    return found if pairs >= PAIRS else set()


def site_sums(outputs: Sequence[Value]) -> set[int]:
    """The identities of the sums over sites: the necks where sites act on each other, as none has values of another."""
    return {v.id for v in reachable(outputs) if v.op == "site_sum"}
