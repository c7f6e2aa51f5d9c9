"""Newton's method with a line search."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register
from matlaw.models.solvers.line_search import LineSearch
from matlaw.models.solvers.newton import Newton


@register("NewtonWithLineSearch", section="Solvers")
class NewtonWithLineSearch(Newton):
    """Newton's method in which every row cuts its step until its residual decreases enough.

    ``BACKTRACKING`` takes the first of the steps ``1, 1/linesearch_cutback, ...`` with
    ``|r(u + a du)|**2 <= (1 - 2 c a) |r(u)|**2``, where ``c`` is ``linesearch_stopping_criteria``; ``STRONG_WOLFE``
    asks besides that the slope of ``|r|**2`` along the step has fallen to 0.9 of what it was. When no trial will do,
    the one with the smallest residual is taken; ``max_linesearch_iterations`` counts residuals, the one at the start of
    the search among them, so that 1 and 2 allow the full step only. Source: J. Nocedal and S. J. Wright, Numerical
    Optimization, chapter 3.

    :ivar line_search: the settings
    """

    linesearch_type = Option(
        "str", "how a step is chosen", required=False, default="BACKTRACKING", choices=("BACKTRACKING", "STRONG_WOLFE")
    )
    max_linesearch_iterations = Option(
        "int", "most residuals of one search, the one at its start among them", required=False, default="10"
    )
    linesearch_cutback = Option("float", "a trial is this many times shorter", required=False, default="2.0")
    linesearch_stopping_criteria = Option("float", "decrease that is enough", required=False, default="0.001")
    check_negative_criterion = Option(
        "bool", "refuse a stopping criterion that no full step can meet", required=False, default="False"
    )

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        kind = context.option("linesearch_type")
        kinds = ["BACKTRACKING", "STRONG_WOLFE"]
        if kind not in kinds:
            raise context.unknown("line search", kind, kinds, "linesearch_type")
        trials = context.option("max_linesearch_iterations")
        if trials < 1:
            raise context.error(f"expected 1 or more, got {trials}", "max_linesearch_iterations")
        cutback = context.option("linesearch_cutback")
        if not 1 < cutback < float("inf"):
            raise context.error(f"expected a number above 1, got {cutback}", "linesearch_cutback")
        criterion = context.option("linesearch_stopping_criteria")
        if not 0 < criterion < 1:
            raise context.error(f"expected a number between 0 and 1, got {criterion}", "linesearch_stopping_criteria")
        if context.option("check_negative_criterion") and criterion >= 0.5:
            raise context.error(
                f"no full step can meet the stopping criterion {criterion}: the residual would have to be negative; "
                "expected a number below 0.5",
                "linesearch_stopping_criteria",
            )
        self.line_search = LineSearch(kind, trials, cutback, criterion)
