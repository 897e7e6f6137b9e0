"""The arguments of calls that are accepted and take the most work, as many kinds as are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sayso.digests import MAX_ARGUMENTS_BYTES

_BYTES = 240_000


def _nested(depth: int) -> Any:
    value: Any = 1
    for number in range(depth):
        value = {"password": value} if number % 2 else [value]
    return value


def _repeated(text: str) -> Callable[[], dict[str, Any]]:
    size = len(json.dumps(text, ensure_ascii=False).encode()) - 2
    return lambda: {"text": text * (_BYTES // size)}


WORST: dict[str, Callable[[], dict[str, Any]]] = {
    "9,500 names that redact alike": lambda: {f"sk-{n:016}": 1 for n in range(9_500)},
    "13,500 names": lambda: {f"name-{n:06}": n for n in range(13_500)},
    "11,000 names of secrets": lambda: {f"token_{n:06}": "a" for n in range(11_000)},
    "80,000 bidi marks": lambda: {"text": "\u202e" * 80_000},
    "80,000 marks that differ": lambda: {"text": "\u202e\u202d" * 40_000},
    "a list of 100,000": lambda: {"ids": [1] * 100_000},
    "a list of 50,000 strings": lambda: {"ids": ["ab"] * 50_000},
    "a list of 50,000 fractions": lambda: {"ids": [0.5] * 50_000},
    "a list of 50,000 whole fractions": lambda: {"ids": [1.0] * 50_000},
    "a list of 14,000 large numbers": lambda: {"ids": [2**53 + 2] * 14_000},
    "a list of 80,000 lists": lambda: {"ids": [[] for _ in range(80_000)]},
    "a list of 31,000 mappings": lambda: {"ids": [{"a": 1} for _ in range(31_000)]},
    "20,000 strings beside many secrets": lambda: {
        "ids": [f"{n:08}" for n in range(20_000)],
        "text": "sk- ghp_ npm_ SG. hf_ AKIA eyJ :// bearer token= 4111 --secret ",
    },
    "240 KB of text": _repeated("lorem ipsum dolor "),
    "240 KB in one word": _repeated("A"),
    "240 KB of text beyond ASCII": _repeated("é"),
    "lines of one character": _repeated("a\n"),
    "blank lines": _repeated("\n"),
    "spaces": _repeated(" "),
    "spaces before a backslash, in a list": lambda: {"ids": [" " * 230_000 + "\\"]},
    "quotes that are spelled": lambda: {"text": '"\\' * 60_000},
    "deep nesting": lambda: {"value": _nested(190)},
    "long names": lambda: {"k" * 120_000: 1, "j" * 120_000: 2},
    "a long line of a shell": lambda: {"command": "ls " + "a " * 115_000},
    "beginnings of tokens": _repeated("eyJ-sk-xox://a:"),
    "names of secrets in a text": _repeated("password=a "),
    "lines of secrets": _repeated('"token": "a1b2c3"\n'),
    "numbers of cards": _repeated("4111 1111 1111 1111 "),
    "brackets": lambda: {"text": "[" * 200_000},
}


def worst_calls() -> dict[str, dict[str, Any]]:
    """All of them, by what they are; each is within the limit."""
    calls = {name: make() for name, make in WORST.items()}
    for name, arguments in calls.items():
        size = len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")).encode())
        if size > MAX_ARGUMENTS_BYTES:
            raise ValueError(f"{name}: {size} bytes are not accepted")
    return calls
