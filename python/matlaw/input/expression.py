"""Expressions of ``[Tensors]`` entries of type Python.

An input file must never run code of its own, so nothing here compiles or executes text: the text is parsed to a syntax
tree and a small interpreter walks it. It knows literals, arithmetic, comparisons, tuples, lists, list comprehensions,
lambdas, indexing and assignments; ``range`` and ``len``; the functions and constants of :data:`TORCH`; the methods and
attributes of :data:`METHODS`; the typed tensors, which take values in the public layout ``(*B, *sub_batch, *base)`` and
``sub_batch_ndim``, and their members (:mod:`matlaw.input.typed_members`); and the names of other ``[Tensors]`` entries.
Anything else is refused. Sizes are checked before anything is computed, by running the operation on tensors without
memory first; steps and elements of a whole expression are bounded, too (:mod:`matlaw.input.expression_limits`).
"""

from __future__ import annotations

import ast
import math
import operator
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from matlaw.input.expression_limits import (
    MAX_INTEGER,
    MAX_LENGTH,
    MAX_LIST_VALUES,
    MAX_STEPS,
    Budget,
    ExpressionError,
    check_lists,
)
from matlaw.input.suggestion import unknown_name
from matlaw.input.typed_members import CLASS_MEMBERS, FUNCTIONS, MEMBERS, Member, Public, Region, class_member
from matlaw.tensors import TYPES, Tensor, to_internal

_CREATION = ("zeros", "ones", "full", "eye", "linspace", "logspace", "arange")
_FUNCTIONS = (
    "abs sqrt exp log log10 sin cos tan asin acos atan atan2 sinh cosh tanh pow sign floor ceil clamp minimum maximum "
    "sum mean prod cumsum stack cat concatenate outer cross dot matmul where flip roll diag diagonal tile "
    "zeros_like ones_like full_like broadcast_to meshgrid transpose permute squeeze unsqueeze reshape"
).split()
_DTYPES = ("float64", "float32", "int64", "int32", "bool")

#: What ``torch.<name>`` may be.
TORCH: dict[str, Any] = {
    **{name: getattr(torch, name) for name in _CREATION},
    **{name: getattr(torch, name) for name in _FUNCTIONS},
    **{name: getattr(torch, name) for name in _DTYPES},
    "tensor": torch.tensor,
    "linalg.solve": torch.linalg.solve,
    "linalg.inv": torch.linalg.inv,
    "nn.functional.pad": torch.nn.functional.pad,
    "pi": math.pi,
    "inf": math.inf,
}
#: Methods and attributes of torch tensors.
METHODS = frozenset(
    "abs sqrt exp log log10 sin cos tan sinh cosh tanh pow sign floor ceil clamp sum mean prod cumsum reshape flatten "
    "unsqueeze squeeze expand repeat transpose permute flip roll diagonal clone contiguous double float item".split()
)
ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "T", "mT"})
#: Keywords of functions and methods.
KEYWORDS = frozenset(
    (
        "dtype dim dims axis base steps start end fill_value keepdim min max shifts size input other sub_batch_ndim "
        "nstep n ndim pad mode value"
    ).split()
)

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class _Torch:
    """Stands for the name ``torch`` or a module in it; never the module itself.

    :param prefix: such as ``linalg.``
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix


class _Lambda:
    """A lambda of the expression with the names that it sees.

    :param node: the lambda
    :param names: names where it was written
    """

    def __init__(self, node: ast.Lambda, names: dict[str, Any]) -> None:
        self.node = node
        self.names = names


def evaluate_expression(text: str, tensor: Callable[[str], Tensor | None] = lambda name: None) -> Tensor:
    """The value of an expression.

    :param text: one expression, or lines of assignments of which one assigns ``result``
    :param tensor: value of another ``[Tensors]`` entry, or None
    :raises ExpressionError: when something in it is not allowed, fails, or the value is not a typed tensor

    >>> evaluate_expression("SR2(torch.tensor([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]) * 2)").data[:, 0].tolist()
    [2.0, 4.0, 6.0, 0.0, 0.0, 0.0]
    """
    return evaluate_batched(text, tensor)[0]


def evaluate_batched(
    text: str,
    tensor: Callable[[str], Tensor | None] = lambda name: None,
    batch_shape: Callable[[str], tuple[int, ...]] | None = None,
) -> tuple[Tensor, tuple[int, ...]]:
    """The value of an expression and its batch shape, which a typed tensor itself holds flattened.

    :param text: see :func:`evaluate_expression`
    :param tensor: value of another ``[Tensors]`` entry, or None
    :param batch_shape: batch shape of such an entry
    :raises ExpressionError: see :func:`evaluate_expression`

    >>> evaluate_batched("Scalar(torch.zeros(4, 3))")[1]
    (4, 3)
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression has {len(text)} characters; the limit is {MAX_LENGTH}")
    lines = text.split("\n")
    source = "\n".join([lines[0].strip(), textwrap.dedent("\n".join(lines[1:]))]).strip()
    try:
        tree = ast.parse(source, mode="exec")
    except SyntaxError as error:
        raise ExpressionError(f"not an expression: line {error.lineno or 1}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"not an expression: {error}") from error
    interpreter = _Interpreter(tensor, batch_shape)
    try:
        value = interpreter.module(tree)
    except RecursionError as error:
        raise ExpressionError("the expression is nested too deeply") from error
    if not isinstance(value, Tensor):
        raise ExpressionError(
            "the value must be a typed tensor, such as Scalar(1.0), not "
            f"{_kind(value)}; the types are: {', '.join(TYPES)}"
        )
    return value, interpreter.batch_shape(value)


class _Interpreter:
    def __init__(
        self,
        tensor: Callable[[str], Tensor | None],
        batch_shape: Callable[[str], tuple[int, ...]] | None = None,
    ) -> None:
        self._tensor = tensor
        self._entry_shape = batch_shape
        self._names: dict[str, Any] = {}
        self._budget = Budget()
        # By identity; the tensor is held so that its identity stays its own.
        self._shapes: dict[int, tuple[Tensor, tuple[int, ...]]] = {}

    def batch_shape(self, value: Tensor) -> tuple[int, ...]:
        """Batch shape of a value; one axis where it is not known."""
        if id(value) in self._shapes:
            return self._shapes[id(value)][1]
        return (value.batch_size,) if value.batch_size != 1 else ()

    def _with_shape(self, value: Any, shape: tuple[int, ...]) -> Any:
        """Remembers the batch shape of a value, when it fits the value."""
        if isinstance(value, Tensor) and math.prod(shape) == value.batch_size:
            self._shapes[id(value)] = (value, shape)
        return value

    def _combined(self, value: Any, *operands: Any) -> Any:
        """Remembers the batch shape that follows from those of the operands."""
        shapes = [self.batch_shape(x) for x in operands if isinstance(x, Tensor)]
        try:
            return self._with_shape(value, tuple(np.broadcast_shapes(*shapes)))
        except ValueError:
            return value

    def module(self, tree: ast.Module) -> Any:
        value: Any = None
        for i, statement in enumerate(tree.body):
            if isinstance(statement, ast.Assign):
                self._assign(statement)
            elif isinstance(statement, ast.Expr) and i == len(tree.body) - 1:
                value = self.visit(statement.value)
            else:
                raise self._refuse(statement)
        if "result" in self._names:
            return self._names["result"]
        if value is None:
            raise ExpressionError("expected a single expression, or lines that assign 'result'")
        return value

    def _assign(self, statement: ast.Assign) -> None:
        [*targets] = statement.targets
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            raise ExpressionError(f"line {statement.lineno}: only a single name can be assigned")
        name = targets[0].id
        self._check_assignable(name, statement)
        self._names[name] = self.visit(statement.value)

    @staticmethod
    def _check_assignable(name: str, node: ast.AST) -> None:
        if name.startswith("_") or name == "torch" or name in TYPES:
            raise ExpressionError(f"line {getattr(node, 'lineno', 1)}: the name '{name}' cannot be assigned")

    def visit(self, node: ast.expr) -> Any:
        self._budget.step()
        method = getattr(self, "visit_" + type(node).__name__, None)
        if method is None:
            raise self._refuse(node)
        try:
            return method(node)
        except ExpressionError:
            raise
        except RecursionError:
            raise
        except OverflowError as error:
            raise ExpressionError(f"line {node.lineno}: a number is too large; floats end at 1.8e308") from error
        except Exception as error:
            raise ExpressionError(f"line {node.lineno}: {type(error).__name__}: {error}") from error

    def _refuse(self, node: ast.AST) -> ExpressionError:
        return ExpressionError(
            f"line {getattr(node, 'lineno', 1)}: {type(node).__name__} is not allowed; an expression has literals, "
            "arithmetic, comparisons, lists, indexing, assignments, and calls of listed functions (torch is there "
            "without an import)"
        )

    def visit_Constant(self, node: ast.Constant) -> Any:
        if node.value is None or type(node.value) in (bool, float, type(...)):
            return node.value
        if type(node.value) is int:
            return _bounded(node.value)
        raise ExpressionError(f"line {node.lineno}: {_kind(node.value)} literals are not allowed")

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self._names:
            return self._names[node.id]
        if node.id == "torch":
            return _Torch()
        if node.id in TYPES:
            return TYPES[node.id]
        if node.id in _BUILTINS:
            return _BUILTINS[node.id]
        value = self._tensor(node.id)
        if value is None:
            raise ExpressionError(
                f"line {node.lineno}: {unknown_name('name', node.id, [*self._names, *TYPES, *_BUILTINS, 'torch'])}, "
                "and the names of other [Tensors] entries"
            )
        return self._with_shape(value, self._entry_shape(node.id)) if self._entry_shape else value

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.visit(e) for e in node.elts)

    def visit_List(self, node: ast.List) -> Any:
        return [self.visit(e) for e in node.elts]

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        if len(node.generators) != 1:
            raise ExpressionError(f"line {node.lineno}: a list comprehension has one 'for'")
        [loop] = node.generators
        if not isinstance(loop.target, ast.Name) or loop.is_async:
            raise ExpressionError(f"line {node.lineno}: a list comprehension assigns a single name")
        self._check_assignable(loop.target.id, node)
        members = self.visit(loop.iter)
        if isinstance(members, torch.Tensor):
            members = list(members.unbind()) if members.ndim and members.shape[0] <= MAX_STEPS else None
        if not isinstance(members, list | tuple | range):
            raise ExpressionError(
                f"line {node.lineno}: a list comprehension needs a list, a range or a tensor with axes"
            )
        outer = self._names
        values = []
        try:
            for member in members:
                self._names = {**outer, loop.target.id: member}
                if all(self._condition(test) for test in loop.ifs):
                    values.append(self.visit(node.elt))
        finally:
            self._names = outer
        return values

    def _condition(self, node: ast.expr) -> bool:
        return bool(self.visit(node))

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            raise ExpressionError(f"line {node.lineno}: a lambda has plain arguments only")
        for argument in arguments.args:
            self._check_assignable(argument.arg, node)
        return _Lambda(node, dict(self._names))

    def _apply(self, function: _Lambda, values: tuple[Any, ...], line: int) -> Any:
        names = [a.arg for a in function.node.args.args]
        if len(names) != len(values):
            raise ExpressionError(f"line {line}: a lambda of {len(names)} arguments got {len(values)}")
        outer = self._names
        self._names = {**function.names, **dict(zip(names, values, strict=True))}
        try:
            return self.visit(function.node.body)
        finally:
            self._names = outer

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        op = _UNARY.get(type(node.op))
        if op is None:
            raise self._refuse(node.op)
        operand = _operand(self.visit(node.operand))
        return self._combined(_bounded(op(operand)), operand)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        op = _BINARY.get(type(node.op))
        if op is None:
            raise self._refuse(node.op)
        left, right = self.visit(node.left), self.visit(node.right)
        if op is operator.mul and isinstance(left, list) and type(right) is int:
            return _repeated(left, right)
        left, right = _operand(left), _operand(right)
        if op is operator.pow and isinstance(left, int) and isinstance(right, int):
            # Integers of Python have no bound; a float overflows instead.
            return _bounded(left**right) if 0 <= right <= 64 else float(left) ** right
        return self._combined(_bounded(self._guarded(op, (left, right), {})), left, right)

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARE:
            raise self._refuse(node)
        op = _COMPARE[type(node.ops[0])]
        return self._guarded(op, (_operand(self.visit(node.left)), _operand(self.visit(node.comparators[0]))), {})

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        value = self.visit(node.value)
        if not isinstance(value, torch.Tensor | list | tuple):
            raise ExpressionError(f"line {node.lineno}: {_kind(value)} cannot be indexed")
        index = self.visit(node.slice)
        return (
            value[index] if not isinstance(value, torch.Tensor) else self._guarded(operator.getitem, (value, index), {})
        )

    def visit_Slice(self, node: ast.Slice) -> Any:
        return slice(*(self.visit(p) if p is not None else None for p in (node.lower, node.upper, node.step)))

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return self._attribute(self.visit(node.value), node)

    def _attribute(self, value: Any, node: ast.Attribute) -> Any:
        name = node.attr
        if isinstance(value, _Torch):
            name = value.prefix + name
            if name in TORCH:
                return TORCH[name]
            if any(known.startswith(name + ".") for known in TORCH):
                return _Torch(name + ".")
            raise ExpressionError(f"line {node.lineno}: {unknown_name('torch function', name, TORCH)}")
        if isinstance(value, torch.Tensor) and name in ATTRIBUTES:
            return getattr(value, name)
        if isinstance(value, type) and issubclass(value, Tensor):
            return class_member(value, name)
        if isinstance(value, Region):
            return value.member(name)
        if isinstance(value, Tensor) and name in MEMBERS:
            if name == "sub_batch_ndim":
                return value.sub_batch_ndim
            public = Public.of(value, self.batch_shape(value))
            self._budget.elements(public.data)
            return public.data if name == "data" else Region(public, name == "sub_batch")
        raise ExpressionError(
            f"line {node.lineno}: attribute '{name}' of {_kind(value)} is not allowed; "
            f"attributes of torch tensors: {', '.join(sorted(ATTRIBUTES))}; of typed tensors: {', '.join(MEMBERS)}; "
            f"of their types: {', '.join(CLASS_MEMBERS)}"
        )

    def visit_Call(self, node: ast.Call) -> Any:
        if any(isinstance(a, ast.Starred) for a in node.args):
            raise ExpressionError(f"line {node.lineno}: unpacking with * is not allowed")
        for keyword in node.keywords:
            if keyword.arg is None:
                raise ExpressionError(f"line {node.lineno}: unpacking with ** is not allowed")
            if keyword.arg not in KEYWORDS:
                raise ExpressionError(f"line {node.lineno}: {unknown_name('keyword', str(keyword.arg), KEYWORDS)}")
        function, owner = self._function(node.func)
        args = (*owner, *(self.visit(a) for a in node.args))
        kwargs = {str(k.arg): self.visit(k.value) for k in node.keywords}
        check_lists((args, tuple(kwargs.values())))
        if isinstance(function, _Lambda):
            if kwargs:
                raise ExpressionError(f"line {node.lineno}: a lambda takes no keywords")
            return self._apply(function, args, node.lineno)
        if isinstance(function, Member):
            public = function.function(*args, **kwargs)
            self._budget.elements(public.data)
            return self._with_shape(public.typed(), public.batch_shape)
        if isinstance(function, type) and issubclass(function, Tensor):
            value = _typed(function, args, kwargs)
            if args[0] is value:
                return value
            shape = torch.as_tensor(args[0]).shape
            return self._with_shape(value, tuple(shape[: len(shape) - function.base_ndim - value.sub_batch_ndim]))
        if function in (range, len):
            return _counted(function, args, kwargs)
        if not callable(function) or isinstance(function, Tensor | torch.Tensor | torch.dtype):
            raise ExpressionError(f"line {node.lineno}: {_kind(function)} cannot be called")
        if function in _FACTORIES:
            kwargs.setdefault("dtype", torch.float64)
        return self._guarded(function, args, kwargs)

    def _guarded(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a function after a rehearsal on tensors that have shapes but no memory."""
        self._budget.elements(*args, *kwargs.values())
        # A value cannot be rehearsed, and neither is large.
        if function not in (torch.tensor, torch.Tensor.item):
            rehearsal = dict(kwargs)
            if function in _FACTORIES:
                rehearsal["device"] = "meta"
            arguments = (_without_memory(a) for a in args)
            self._budget.elements(function(*arguments, **{k: _without_memory(v) for k, v in rehearsal.items()}))
        return function(*args, **kwargs)

    def _function(self, node: ast.expr) -> tuple[Any, tuple[Any, ...]]:
        """What is called, and the tensor whose method it is."""
        if not isinstance(node, ast.Attribute):
            return self.visit(node), ()
        owner = self.visit(node.value)
        if not isinstance(owner, torch.Tensor):
            return self._attribute(owner, node), ()
        if node.attr not in METHODS:
            raise ExpressionError(f"line {node.lineno}: {unknown_name('tensor method', node.attr, METHODS)}")
        return getattr(torch.Tensor, node.attr), (owner,)


#: Functions of Python itself, and of typed tensors.
_BUILTINS: dict[str, Any] = {"range": range, "len": len, **FUNCTIONS}
_FACTORIES = frozenset(TORCH[name] for name in (*_CREATION, "tensor"))


def _counted(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``range`` and ``len``, which take no keywords and only what they are meant for here."""
    if kwargs:
        raise ExpressionError(f"{function.__name__} takes no keywords")
    if function is len and not (len(args) == 1 and isinstance(args[0], list | tuple | range | torch.Tensor)):
        raise ExpressionError("len takes a list or a tensor")
    return function(*args)


def _kind(value: Any) -> str:
    if isinstance(value, _Torch):
        return f"the functions torch.{value.prefix}*"
    return "a lambda" if isinstance(value, _Lambda) else type(value).__name__


def _repeated(values: list[Any], times: int) -> list[Any]:
    """A list several times over."""
    if len(values) * times > MAX_LIST_VALUES:
        raise ExpressionError(f"a list of {len(values) * times} values is too long; the limit is {MAX_LIST_VALUES}")
    return values * times


def _operand(value: Any) -> Any:
    """A value that arithmetic may see."""
    if isinstance(value, bool | int | float | torch.Tensor | Tensor):
        return value
    raise ExpressionError(f"arithmetic with {_kind(value)} is not allowed")


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise ExpressionError("an integer is too large; write a float, such as 1e20")
    return value


def _typed(kind: type[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """A typed tensor from a value in the public layout."""
    sub = kwargs.get("sub_batch_ndim", 0)
    if len(args) != 1 or kwargs.keys() - {"sub_batch_ndim"}:
        base = ", ".join(map(str, kind.base_shape))
        raise ExpressionError(f"{kind.__name__} takes one value of shape (*B, *sub_batch, {base}) and sub_batch_ndim")
    value = args[0]
    if isinstance(value, kind):
        return value
    if isinstance(value, Tensor):
        raise ExpressionError(f"{kind.__name__} cannot be made from {_kind(value)}")
    data = torch.as_tensor(value, dtype=torch.float64)
    if data.ndim < kind.base_ndim or tuple(data.shape[data.ndim - kind.base_ndim :]) != kind.base_shape:
        shape = ", ".join(["*B", *map(str, kind.base_shape)])
        raise ExpressionError(f"{kind.__name__}: expected shape ({shape}), got {tuple(data.shape)}")
    if type(sub) is not int or not 0 <= sub <= data.ndim - kind.base_ndim:
        raise ExpressionError(f"{kind.__name__}: sub_batch_ndim={sub} does not fit the shape {tuple(data.shape)}")
    return to_internal(data, kind, sub)


def _without_memory(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to("meta")
    if isinstance(value, Tensor):
        return value.to(device="meta")
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return type(value)(_without_memory(v) for v in value)
    return value
