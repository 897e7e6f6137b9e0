"""No decision hangs on the words of a sentence: whoever rewords one changes what people read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
_LOOKS = {"startswith", "endswith", "find", "index", "count", "fullmatch", "match", "search"}

# What others say only in words: an error of Telegram's without a code, a log line of asyncio's.
FOREIGN = {
    "message is not modified",
    "query is too old",
    "socket.accept() out of system resource",
}


def test_no_sentence_is_compared_with() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {words!r}"
        for source in ("core", "adapters", "bots")
        for path in sorted((ROOT / source).rglob("*.py"))
        # The demo plays people, and they go by what they read; contracts look at what is shown.
        if not {"demo", "testing"} & {*path.parts}
        for line, words in _compared(ast.parse(path.read_text()))
        if words not in FOREIGN
    ]

    assert found == []


def test_a_decision_on_words_would_be_seen() -> None:
    source = """
if text.startswith("It matches nearly"): ...
if "not in channel" in error.reason: ...
if reason == "too many messages": ...
if error.reason in ("gone for good", "x"): ...
match reason:
    case "not here": ...
if text == "word" or " " in text: ...
"""

    assert [line for line, _ in _compared(ast.parse(source))] == [2, 3, 4, 5, 7]


def _compared(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            sides = [*node.args] if node.func.attr in _LOOKS else []
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        else:
            continue
        for side in sides:
            parts = side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
            for part in parts:
                if isinstance(part, ast.Constant) and _is_sentence(part.value):
                    yield (
                        node.value.lineno if isinstance(node, ast.MatchValue) else node.lineno,
                        str(part.value),
                    )


def _is_sentence(value: object) -> bool:
    return isinstance(value, str) and len([word for word in value.split() if word.isalpha()]) > 1
