"""The small changes of a Python text: one comparison, constant, condition or statement each."""

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "ERROR": "WARN",
    "FAIL": "PASS",
    "WARN": "PASS",
    "PASS": "FAIL",
}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DELETED = (ast.AugAssign, ast.Expr, ast.Raise, ast.Continue, ast.Break)
#: Parts of a node that are no code of their own.
LEFT_OUT = {"annotation", "returns", "decorator_list", "type_params"}


class Change(NamedTuple):
    """``start`` and ``end`` are positions in the encoded text; ``new`` replaces what they hold.

    ``statement``: the first line of the statement in a function, or 0 for code that an import runs.
    """

    line: int
    statement: int
    start: int
    end: int
    name: str
    new: bytes

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.new + source[self.end :]


def changes(source: bytes) -> list[Change]:
    """Every change of a text, in the order of the lines. Not each result is still Python."""
    return sorted(_Reader(source).changes_below(ast.parse(source)))


def is_python(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


class _Reader:
    def __init__(self, source: bytes) -> None:
        self._source = source
        self._starts = [0]
        self._statement = 0
        #: How often each name gets a value in the function that is read.
        self._assigned: Counter[str] = Counter()
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def changes_below(self, node: ast.AST) -> Iterator[Change]:
        if _is_import_or_text(node):
            return
        before = self._statement, self._assigned
        if isinstance(node, FUNCTIONS):
            self._assigned = _assigned(node)
        if isinstance(node, ast.stmt) and (self._statement or isinstance(node, FUNCTIONS)):
            self._statement = node.lineno
        yield from self._changes_of(node)
        for field, value in ast.iter_fields(node):
            if field in LEFT_OUT:
                continue
            for child in value if isinstance(value, list) else [value]:
                # A string with fields is a message; its parts have no positions of their own.
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from self.changes_below(child)
        self._statement, self._assigned = before

    def _changes_of(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Compare):
            yield from self._comparisons(node)
        elif isinstance(node, ast.Constant):
            yield from self._constants(node)
        elif isinstance(node, ast.BoolOp):
            yield from self._operands(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield self._replaced(node, "drop-not", self._text(node.operand))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in NAMES:
            yield self._replaced(node, "swap-name", NAMES[node.id].encode())
        elif isinstance(node, ast.IfExp):
            parts = (node.orelse, node.test, node.body)
            new = b"(%s) if (%s) else (%s)" % tuple(map(self._text, parts))
            yield self._replaced(node, "swap-branches", new)
        elif isinstance(node, COMPREHENSIONS):
            yield from self._filters(node)
        elif isinstance(node, ast.stmt):
            yield from self._statements(node)

    def _comparisons(self, node: ast.Compare) -> Iterator[Change]:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            old, new = COMPARISONS[type(operator)]
            between = self._source[self._end(left) : self._start(right)]
            # Brackets and blanks may stand on both sides of the operator.
            if between.count(old.encode()) == 1:
                place = self._end(left) + between.index(old.encode())
                yield self._change(node, place, place + len(old), "comparison", new.encode())
            left = right

    def _constants(self, node: ast.Constant) -> Iterator[Change]:
        if isinstance(node.value, bool):
            yield self._replaced(node, "boolean", str(not node.value).encode())
        elif isinstance(node.value, int):
            for step in (1, -1):
                yield self._replaced(node, f"constant{step:+}", b"(%d)" % (node.value + step))

    def _operands(self, node: ast.BoolOp) -> Iterator[Change]:
        old, new = (b" and ", b" or ") if isinstance(node.op, ast.And) else (b" or ", b" and ")
        values = [b"(%s)" % self._text(operand) for operand in node.values]
        yield self._replaced(node, "and-or", new.join(values))
        for number in range(len(values)):
            left = old.join(values[:number] + values[number + 1 :])
            yield self._replaced(node, f"drop-operand{number}", left)

    def _filters(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> Iterator[Change]:
        for generator in node.generators:
            for condition in generator.ifs:
                yield self._replaced(condition, "drop-filter", b"True")

    def _statements(self, node: ast.stmt) -> Iterator[Change]:
        text = self._text(node)
        if isinstance(node, DELETED) or self._keeps_a_value(node):
            yield self._replaced(node, "delete-statement", b"pass")
        elif isinstance(node, ast.Return) and node.value and text != b"return None":
            yield self._replaced(node, "return-none", b"return None")
        elif isinstance(node, (ast.If, ast.While)):
            yield self._replaced(node.test, "negate", b"not (%s)" % self._text(node.test))

    def _keeps_a_value(self, node: ast.stmt) -> bool:
        """Whether it assigns to something that has a value without it, so no name gets lost."""
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            return False
        target = node.targets[0]
        return not isinstance(target, ast.Name) or self._assigned[target.id] > 1

    def _replaced(self, node: ast.expr | ast.stmt, name: str, new: bytes) -> Change:
        start, end = self._start(node), self._end(node)
        if b"\n" in new:
            new = b"(%s)" % new
        return self._change(node, start, end, name, new)

    def _change(
        self, node: ast.expr | ast.stmt, start: int, end: int, name: str, new: bytes
    ) -> Change:
        return Change(node.lineno, self._statement, start, end, name, new)

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        if node.end_lineno is None or node.end_col_offset is None:
            raise ValueError("a node without an end")
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr | ast.stmt) -> bytes:
        return self._source[self._start(node) : self._end(node)]


def _assigned(function: ast.AST) -> Counter[str]:
    nodes = list(ast.walk(function))
    names = [
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return Counter(names + [node.arg for node in nodes if isinstance(node, ast.arg)])


def _is_import_or_text(node: ast.AST) -> bool:
    """Also a docstring, a condition for type checkers, and ``strict``: the lengths are equal."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.Import, ast.ImportFrom))
