"""No decision hangs on the words of a sentence: whoever rewords one changes what people read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
# What people read, by its name; and what is one as soon as it is a string.
_PROSE = {"message", "reason", "said", "sentence", "told", "words"}
_ERRORS = {"error", "reply", "exception"}
_FOLDS = {"lower", "casefold", "strip"}
_LOOKS = {"startswith", "endswith", "find", "index", "count", "fullmatch", "match", "search"}

# What others say only in words: Telegram gives its errors no codes, asyncio its log lines neither,
# and scripts of Redis hand on the code of a reply in the message of theirs.
FOREIGN = {
    "updatedInput",
    "ACL failure in script",
    "NOPERM",
    "OOM",
    "PRIVATE KEY",
    "Strands Agents",
    "READONLY",
    "can't run this command",
    "permission",
    "max number of clients reached",
    "\\bentit",
    "blocked by the user",
    "chat not found",
    "chat_write_forbidden",
    "have no rights",
    "initiate conversation",
    "invalid user_id specified",
    "kicked",
    "member not found",
    "message is not modified",
    "message thread not found",
    "not a member",
    "not enough rights",
    "participant_id_invalid",
    "query is too old",
    "Illegal character '\\n'",
    "socket.accept() out of system resource",
    "terminated by other getupdates",
    "topic_closed",
    "user is deactivated",
    "user not found",
    "user_id_invalid",
    "webhook is active",
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
if message.endswith("?") or error.reason not in said: ...
GONE = ("gone", "not here any more")
if any(words in text for words in GONE): ...
FIXES = (("is gone", "x"), ("left us", "y"))
fix = next(fix for words, fix in FIXES if words in text)
ENDED = re.compile("ended")
if "NO_CODE" in str(error).lower() or ENDED.search(str(error)): ...
if code in ("gone", "left") or NUMBER.search(text) or "key" in words_of: ...
"""

    seen = [line for line, _ in _compared(ast.parse(source))]
    assert sorted({*seen}) == [2, 3, 4, 5, 7, 9, 11, 13, 15]
    assert (seen.count(9), seen.count(15)) == (2, 2)


def _compared(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where something is decided by a sentence, or by a part of what is prose by its name."""
    known = _constants(tree)
    for node in ast.walk(tree):
        found: list[str] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            found = [text for side in sides for text in _texts(side, known) if _is_sentence(text)]
            looked_at = node.comparators[0]
            is_part = isinstance(node.ops[0], ast.In | ast.NotIn) and _is_prose(looked_at)
            # A message of a platform is a mapping.
            if is_part and ast.unparse(looked_at) != "message":
                found = _texts(node.left, known) or [ast.unparse(node.left)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _LOOKS:
                looked = [node.func.value, *node.args]
                texts = [text for part in looked for text in _texts(part, known)]
                is_prose = any(map(_is_prose, looked))
                found = [text for text in texts if is_prose or _is_sentence(text)]
        elif isinstance(node, ast.MatchValue):
            found = [text for text in _texts(node.value, known) if _is_sentence(text)]
            node = node.value
        for text in found:
            yield getattr(node, "lineno", 0), text


def _constants(tree: ast.Module) -> dict[str, list[str]]:
    """The texts behind each name: a constant's, and those that a loop over a constant meets."""
    values = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    known = {name: texts for name, value in values.items() if (texts := _texts(value, {}))}
    for node in ast.walk(tree):
        if not isinstance(node, ast.For | ast.comprehension) or not isinstance(node.iter, ast.Name):
            continue
        if not isinstance(rows := values.get(node.iter.id), ast.Tuple | ast.List | ast.Set):
            continue
        if isinstance(node.target, ast.Name):
            known[node.target.id] = [text for row in rows.elts for text in _texts(row, {})]
        elif isinstance(node.target, ast.Tuple):
            for number, target in enumerate(node.target.elts):
                cells = [row.elts[number] for row in rows.elts if isinstance(row, ast.Tuple)]
                if isinstance(target, ast.Name):
                    known[target.id] = [text for cell in cells for text in _texts(cell, {})]
    return known


def _texts(node: ast.AST, known: Mapping[str, list[str]]) -> list[str]:
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Name):
        return known.get(node.id, [])
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [text for part in node.elts for text in _texts(part, known)]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("re.compile", "frozenset", "set"):
        return [text for part in node.args[:1] for text in _texts(part, known)]
    return []


def _is_prose(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _FOLDS and _is_prose(node.func.value)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "str" and ast.unparse(node.args[0]) in _ERRORS
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in _PROSE


def _is_sentence(value: str) -> bool:
    return len([word for word in value.split() if word.isalpha()]) > 1
