"""How much work a glob can be for the worst value of 10 kB, and the limit to it."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.errors import ConfigError
from sayso.globs.parts import (
    BLOCK,
    CarefulRun,
    Chain,
    Check,
    Either,
    Literal,
    Look,
    One,
    Part,
    Repeat,
    Run,
    WordEdge,
)
from sayso.globs.sets import ANY, DOT, SLASH, WORD, CharSet
from sayso.globs.value import FEW_CHARS, FEW_TEXTS, FIND_STEPS, PASS_STEPS

VALUE_CHARACTERS = 10_000
MOST_STEPS = 20_000
"""As ``Text.steps`` counts them: a few milliseconds for a value of 10 kB."""


def refuse_slow(part: Part) -> None:
    """Refuse a pattern that is too much work.

    Raises:
        ConfigError: a value of 10 kB may take more steps than are allowed.
    """
    if isinstance(part, Literal):
        return  # compared, not looked for
    if (steps := most_steps(part)) > MOST_STEPS:
        raise ConfigError(
            f"the pattern may take {steps} steps for a value of 10 kB; "
            f"at most {MOST_STEPS} are allowed: "
            "write several patterns, or shorter ones with fewer different sets and repetitions"
        )


def most_steps(part: Part) -> int:
    """Steps that no value of 10,000 characters can exceed, whatever is in it."""
    parts = list(_parts(part))
    found = sum(map(_steps, parts))
    sets = {members.key: members for one in parts for members in _sets(one)}
    pages = {page for members in sets.values() for page in members.planes.partial}
    passes = len(pages) + sum(members.passes for members in sets.values())
    return found + _letter_steps(parts) + PASS_STEPS * passes


def _letter_steps(parts: list[Part]) -> int:
    """For finding so many different characters: there is room for few of them many times."""
    texts = {part.text for part in parts if isinstance(part, Literal)}
    alone = {text for text in texts if len(text) == 1}
    # Those of a longer text are looked for one by one where it occurs too often itself.
    among = set().union(*texts) - alone
    count = len(alone) + min(len(among), VALUE_CHARACTERS // FEW_TEXTS)
    return count * FIND_STEPS + min(count * FEW_CHARS, VALUE_CHARACTERS)


def _parts(part: Part) -> Iterator[Part]:
    yield part
    if isinstance(part, Chain | Either):
        for one in part.parts:
            yield from _parts(one)
    elif isinstance(part, Look):
        yield from _parts(part.part)


def _steps(part: Part) -> int:
    if isinstance(part, Literal):
        # A text that is longer than the value is not in it.
        units = len(part.text) if len(part.text) <= VALUE_CHARACTERS else 0
        return FIND_STEPS + max(FEW_TEXTS, units)
    return _repeat_steps(part) if isinstance(part, Repeat) else 1


def _repeat_steps(part: Repeat) -> int:
    lengths = {len(branch) for branch in part.branches}
    width = max(BLOCK, 8 * max(lengths))
    blocks = VALUE_CHARACTERS // width + 1
    rounds = width.bit_length() + 1
    if len(lengths) > 1:
        # Every round but the first and the last goes on by a branch of two characters or more.
        rounds = width // min(lengths - {1}) + 2
    return sum(map(len, part.branches)) + blocks * (3 + len(lengths) + rounds)


def _sets(part: Part) -> Iterator[CharSet]:
    if isinstance(part, One | Run | Check):
        yield part.members
    elif isinstance(part, CarefulRun):
        yield from (ANY, DOT, SLASH)
    elif isinstance(part, WordEdge):
        yield WORD
    elif isinstance(part, Repeat):
        yield from (members for branch in part.branches for members in branch)
