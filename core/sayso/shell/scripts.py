"""Scripts of sed and awk that print and do nothing else."""

from __future__ import annotations

import re

from sayso.shell.options import Given

# Either side of a substitution. What stands in brackets may hold no slash: not every sed takes
# it for the end. Nor may it hold a bracket but for the name of a class: what begins with `[.`
# goes on after the next that closes.
_CLASS = r"\[:[a-z]+:\]"
_SIDE = rf"(?:[^/\\\n\[]|\\[^\n]|\[\^?(?:{_CLASS}|[^\[\]^/\\\n])(?:{_CLASS}|[^\[\]/\\\n])*+\])*+"
_ADDRESS = rf"(?:[0-9]+|\$|/{_SIDE}/)"
_RANGE = rf"(?:{_ADDRESS}(?:,(?:{_ADDRESS}|\+[0-9]+))?+)?+"
# Of the flags, `e` runs what was found and `w` writes it.
_SED = rf"{_RANGE}(?:[pdq=]|s/{_SIDE}/{_SIDE}/[gpiI0-9]*+)"
_SED_SCRIPT = re.compile(rf"{_SED}(?:; ?{_SED})*+")

_FIELDS = r"(?:\$(?:[0-9]+|NF)|NR|NF)"
_LINES = r"NR *(?:==|[<>]=?) *[0-9]+"
_AWK_SCRIPT = re.compile(
    rf"(?:{_LINES}(?: *&& *{_LINES})?+)? *(?:\{{ *print(?: +{_FIELDS}(?: *, *{_FIELDS})*+)? *\}})?"
)


def sed_prints(given: Given) -> bool:
    """Whether each script of sed only prints, deletes from what is printed, or substitutes."""
    scripts = given.values("-e", "--expression") or list(given.operands[:1])
    return bool(scripts) and all(_SED_SCRIPT.fullmatch(script) for script in scripts)


def awk_prints(given: Given) -> bool:
    """Whether the script of awk only prints fields of lines."""
    script, *files = given.operands or ("",)
    # A file of the form name=value is none: it sets a variable. gawk connects to /inet.
    plain = not any("=" in name or "/inet" in name for name in files)
    return plain and bool(script) and bool(_AWK_SCRIPT.fullmatch(script))
