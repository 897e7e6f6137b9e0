"""What secrets look like, and texts without them: on cards, in logs, in messages of errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

_MARK = "[redacted: "
_MARK_LOOKALIKE = re.compile(re.escape(_MARK) + r"[^\[\]]*\]?")
# What a credential may be made of: no white space, and nothing that a shell acts on.
_WORD = re.compile(r"[^\s$`;&|<>(){}]{1,200}")

_SECRET_KEY = re.compile(
    r"(?:^|[_\-.\s])(?:pass(?:word|wd|phrase)?|secret|token|api[_\-]?key|apikey|"
    r"private[_\-]?key|access[_\-]?key|credentials?|authorization|auth|cookie|session[_\-]?key)"
    r"(?:$|[_\-.\s])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# A shape hides what it matches from the person who decides, so each is as narrow as the kind
# of secret allows: none takes white space, and none takes what a shell would act on.
# An agent's process loads no platform, so those of the chats that it may meet stand here, too.
API_TOKEN = re.compile(r"(?<![A-Za-z0-9_-])sayso_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")
_SHAPES = (
    # The first that matches at a place counts: those that take more of it come first.
    # user:password in a URL
    r"(?<=://)[A-Za-z0-9._~%+-]*:[A-Za-z0-9._~%+!*,=-]+(?=@)",
    r"(?i:(?<=bearer\s))[A-Za-z0-9_~+-][A-Za-z0-9._~+=-]{19,}",
    r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}",
    r"xapp-[A-Za-z0-9-]{8,}",
    r"xwfp-[A-Za-z0-9-]{8,}",
    r"(?<![0-9])[0-9]{6,12}:[A-Za-z0-9_-]{30,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bsk-[A-Za-z0-9_-]{16,}",
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    # a JSON Web Token
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]+",
    API_TOKEN.pattern,
)
_SECRET_VALUE = re.compile("|".join(_SHAPES))
# Those that were brought by what this process has loaded, each once.
_brought: dict[re.Pattern[str], None] = {}
# RFC 7468: lines of 64 characters of base64, the last one shorter, between BEGIN and END.
_KEY_BLOCK = re.compile(
    r"(?P<begin>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----\n)"
    r"(?P<lines>(?:[A-Za-z0-9+/=]{40,76}\n)*[A-Za-z0-9+/=]{1,76}\n)"
    r"(?=-----END )"
)
# An address of our own shows nobody what runs: whatever may be a login there is hidden.
_LOGIN = re.compile(r"(?<=://)[^/\s]*(?=@)|(?<=password=)[^&\s]+")


def hide_also(shape: re.Pattern[str]) -> None:
    """Hide, from now on in this process, what has this shape as well.

    Of what the shape takes, only a single word without anything that a shell
    acts on is hidden, so that no shape can hide what may run.

    Raises:
        ValueError: it matches nothing at all, which is everywhere.
    """
    if shape.search("") is not None:
        raise ValueError(f"the shape {shape.pattern!r} of a secret matches an empty string")
    _brought[shape] = None


def holds_secret(text: str) -> bool:
    """Whether anything in it has the shape of a known kind of secret."""
    return redaction(text).hidden > 0


class Redaction(NamedTuple):
    """What may be shown of a value, and how many strings were hidden in it.

    The count is of what was done. It cannot be read out of what is shown, because whoever
    wrote the value may have written marks of their own into it.
    """

    shown: Any
    hidden: int


def redaction(value: Any) -> Redaction:
    """A JSON value without secrets: by the name of their key and by their shape.

    A single word or number under a key such as ``password`` or ``apiKey`` is
    replaced; what is longer than a credential, or has lines or parts of its
    own, stays visible, because it may be what runs.
    """
    redactor = _Redactor()
    return Redaction(redactor.value(value), redactor.hidden)


def redacted(value: Any) -> Any:
    """A JSON value without secrets, where it does not matter how many there were."""
    return redaction(value).shown


def redacted_text(text: str) -> str:
    """The text with everything that has the shape of a known kind of secret replaced."""
    return _Redactor().text(text)


def marks_in(value: Any) -> Counter[str]:
    """Everything in a JSON value that looks like a mark, whoever wrote it there."""
    if isinstance(value, str):
        return Counter(_MARK_LOOKALIKE.findall(value))
    if isinstance(value, Mapping):
        return sum((marks_in(key) + marks_in(item) for key, item in value.items()), Counter())
    if isinstance(value, list | tuple):
        return sum(map(marks_in, value), Counter())
    return Counter()


@dataclass(slots=True)
class _Redactor:
    """One pass over a value, which counts what it hides."""

    hidden: int = 0

    def value(self, value: Any, *, named: bool = False) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(value, named=named)
        if isinstance(value, list | tuple):
            return [self.value(item, named=named) for item in value]
        if named and value is not None and not isinstance(value, bool):
            text = str(value)
            if text and _WORD.fullmatch(text):
                return self._mark(text)
        return self.text(value) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        text = _KEY_BLOCK.sub(lambda match: f"{match['begin']}{self._mark(match['lines'])}\n", text)
        text = _SECRET_VALUE.sub(lambda match: self._mark(match[0]), text)
        for shape in _brought:
            text = shape.sub(self._mark_word, text)
        return text

    def _mapping(self, value: Mapping[Any, Any], *, named: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in value.items():
            # Two names that both look like secrets must not become one: nothing may go unseen.
            name = base = self.text(str(key))
            number = 2
            while name in found:
                name, number = f"{base} #{number}", number + 1
            found[name] = self.value(item, named=named or _names_a_secret(str(key)))
        return found

    def _mark_word(self, match: re.Match[str]) -> str:
        return self._mark(match[0]) if _WORD.fullmatch(match[0]) else match[0]

    def _mark(self, text: str) -> str:
        self.hidden += 1
        return f"{_MARK}{len(text)} characters]"


def _names_a_secret(key: str) -> bool:
    return _SECRET_KEY.search(_CAMEL.sub("_", key)) is not None


def has_login(url: str) -> bool:
    """Whether an address carries a password or a user name."""
    return _LOGIN.search(url) is not None


def without_login(url: str) -> str:
    """An address as it may be shown."""
    return _LOGIN.sub("…", url)
