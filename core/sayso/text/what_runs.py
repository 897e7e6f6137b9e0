"""What a text would run, as far as it decides what may be hidden in it."""

from __future__ import annotations

import re

# Who decodes base64 may run what comes of it: what only looks random is shown there.
_DECODES = re.compile(
    r"b(?:ase)?64[a-z_.]{0,30}decode|decode_?(?:b|base)64|frombase64|base64d|a2b_base64|\batob\b"
    r"|[\"']base64[\"']|powershell|pwsh"
)
_CODER = re.compile(r"\b(?:base64|basenc|openssl)\s")
_DECODING = re.compile(r"\s(?:-[iw]{0,3}d[iw0-9]{0,6}|--d[ecod]{0,5})(?![a-z])")
_COMMANDS = re.compile(r"[;|&\x00]")
_APART = re.compile(r"[;&|\n\x00(){}`]+|\b(?:then|do|else)\b")
_COMMAND = re.compile(
    r"\s*(?:(?:sudo|exec|eval|env|nohup|time|command|[A-Za-z_]\w*=[^\s$]*)\s+)*\"?\$\{?([A-Za-z_][A-Za-z0-9_]*)"
)
_FETCHES = re.compile(r"\b(?:curl|wget|sh|bash|zsh|dash|source|python3?|node|perl|ruby)\b")
_ARGUMENT = re.compile(r"(?:[\s\"']|://)\$\{?([A-Za-z_][A-Za-z0-9_]*)")

_SHORT_WORD = re.compile(r"[A-Za-z]{1,7}")
_PLACE = re.compile(r"[A-Za-z0-9_~-]*(?:[./][A-Za-z0-9_%~-]*)+(?::[0-9]+[A-Za-z0-9_%~./-]*)?")
_FOLDER = re.compile(r"[A-Za-z._-]+|[\w.~-]*(?:[/\\][\w.~-]*)+")
_RUN = re.compile(r"[A-Za-z0-9]{7,}")


def decodes(lowered: str) -> bool:
    """Return True if a text, in lower case, decodes what is written in base64."""
    if _DECODES.search(lowered) is not None:
        return True
    if _CODER.search(lowered) is None:
        return False
    return any(map(_is_decoder, _COMMANDS.split(lowered)))


def _is_decoder(command: str) -> bool:
    coder = _CODER.search(command)
    return coder is not None and _DECODING.search(command, coder.end() - 1) is not None


def run_names(text: str) -> frozenset[str]:
    """The variables that a text runs as commands, or gives to what fetches or runs them."""
    if "$" not in text:
        return frozenset()
    # A variable in braces is no part of its own.
    plain = re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", r"$\1", text)
    found: set[str] = set()
    for part in _APART.split(plain):
        if "$" not in part:
            continue
        if (command := _COMMAND.match(part)) is not None:
            found.add(command[1])
        if (fetches := _FETCHES.search(part)) is not None:
            found.update(_ARGUMENT.findall(part, fetches.end()))
    return frozenset(found)


def may_run(value: str) -> bool:
    """Whether a value is plainly no random secret: a short word, or like an address or a path."""
    return bool(_SHORT_WORD.fullmatch(value) or _PLACE.fullmatch(value)) and not is_random(value)


def is_folder(name: str, value: str) -> bool:
    """Return True if this is no password but the folder that one is in."""
    return name.casefold() == "pwd" and bool(_FOLDER.fullmatch(value)) and not is_random(value)


def is_random(value: str) -> bool:
    """Return True if letters and digits stand in it without order, as in a secret."""
    return any(not (run.isalpha() or run.isdigit()) for run in _RUN.findall(value))
