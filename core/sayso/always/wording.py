"""What a rule is about, in words that are exact and never cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from sayso.always.programs import READING, program_of
from sayso.calls import ToolCall
from sayso.globs.glob import dangers
from sayso.rules.rule import Rule
from sayso.text.text import redacted, visible

_SIMPLE = re.compile(r"[A-Za-z0-9_.:/@+-]+")


def meanings(rule: Rule, call: ToolCall) -> Iterator[str]:
    """Words for a rule on the card of a call that it is about, the most telling ones first.

    All of them are exact. The shorter ones point at the arguments, which the
    card shows completely, instead of repeating them.
    """
    tool = name_in_words(rule.tool)
    if rule.arguments_digest is not None:
        digest = f"(digest {rule.arguments_digest[:12]})"
        these = f"{tool} with exactly these arguments"
        if rule.params or not call.arguments:  # without them they are longer than a screen
            yield f"{these}: {_values(call)} {digest}"
        yield f"{these}: all of them as this card shows them {digest}"
        return
    patterns = [_pattern(name, pattern) for name, pattern in sorted(rule.params.items())]
    words = " and ".join((*patterns, *_others(rule, call)))
    yield f"{tool} with {words or 'any arguments'}"


def warning(rule: Rule) -> str:
    """What a person may not expect of the calls that a rule allows; empty for a literal one."""
    if rule.arguments_digest is not None:
        return ""
    if is_the_tool(rule):
        return "It allows every call of this tool in this session, with any arguments"
    found: list[str] = []
    for pattern in rule.params.values():
        program = program_of(pattern)
        if program is None:
            found += _dangers(pattern)
        elif program in READING:
            found.append(f"{program} can show every file that the agent's tool may read")
    return visible(". ".join(dict.fromkeys(found)), one_line=True)


def is_the_tool(rule: Rule) -> bool:
    """Whether the rule is about every call of the tool, or nearly."""
    if rule.arguments_digest is not None or rule.others_digest is not None:
        return False
    return all(_takes_everything(pattern) for pattern in rule.params.values())


def name_in_words(name: str) -> str:
    """A name that cannot pass for other words of the sentence that it stands in."""
    return name if _SIMPLE.fullmatch(name) else _json(name)


def _values(call: ToolCall) -> str:
    """The arguments as they are, a text never like a number; secrets only by their length."""
    values = redacted(dict(call.arguments))
    shown = (f"{name_in_words(name)} is {_json(value)}" for name, value in sorted(values.items()))
    return " and ".join(shown) or "none at all"


def _pattern(name: str, pattern: str) -> str:
    words = f"{name_in_words(name)} matching {_json(pattern)}"
    program = program_of(pattern)
    if program is None:
        return words
    return f"{words} (only {program}, alone or with plain words)"


def _others(rule: Rule, call: ToolCall) -> Iterator[str]:
    if rule.others_digest is None:
        if rule.params:
            yield "any other arguments"
    elif set(call.arguments) <= set(rule.params):
        yield "no other arguments"
    else:
        yield f"the others as this card shows them (digest {rule.others_digest[:12]})"


def _takes_everything(pattern: str) -> bool:
    if program_of(pattern) is not None:
        return False
    return any(danger.startswith("It matches nearly everything") for danger in _dangers(pattern))


@lru_cache(maxsize=1_024)
def _dangers(pattern: str) -> tuple[str, ...]:
    return dangers(pattern)


def _json(value: object) -> str:
    return visible(json.dumps(value, ensure_ascii=False), one_line=True)
