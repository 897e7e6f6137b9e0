"""What people may not expect of a glob: values, each with a sample that proves it.

Words are made of them in ``words``, and nothing is decided by those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from sayso.globs.glob import Glob
from sayso.globs.needs import needs
from sayso.globs.notes import Danger, DangerKind, Miss, MissKind, Note
from sayso.globs.parser import Parsed, parse
from sayso.globs.parts import CarefulRun, Chain, Either, Part, Run

_Test = Callable[[str], bool]

# More stars than this show nothing new.
_MOST_FRAMES = 24
_STRANGERS = ("rm -rf /", "a", "/etc/passwd", "https://example.com/x")
_TAILS = ("; rm -rf /", " ; rm -rf /", " && rm -rf /")
_ESCAPES = ("../../etc/passwd", "../etc/passwd", "x/../../etc/passwd", "..", "../x")
# What a star may take before a word, and before other text, which the # makes a comment.
_BEFORE_A_WORD = ("x; rm -rf /", "x; rm -rf / #", "x; reboot #", ";rm x")
_BEFORE_TEXT = ("x; rm -rf / #x", "x; reboot #x", "x;rm x", ";rm x")
_INSTEAD_OF_A_WORD = ("rm -rf /", "reboot #")
_INSTEAD = ("rm -rf / #x", "reboot #x")
_ABSOLUTE = ("/etc/x", "/etc", "/etc/passwd")
_HOST = ("evil.example/a", "evil.example/")
_MORE_HOST = (".evil.example/", "@evil.example/")
_OTHERS = ("rm -rf /", "x; rm -rf /", "/etc/passwd", "x", "b", "")


@lru_cache(maxsize=1_024)
def dangers(pattern: str) -> tuple[Danger, ...]:
    """What people may not expect of this pattern. None found does not prove it harmless.

    Raises:
        ConfigError: the pattern is refused.
    """
    parsed, matches = parse(pattern), Glob(pattern).matches
    if parsed.part is None:
        return (Danger(DangerKind.MATCHES_NOTHING, pattern),)
    found = [*_widths(parsed.part, matches), *_noted(pattern, parsed, matches)]
    return tuple(dict.fromkeys(found))


def misses(pattern: str) -> tuple[Miss, ...]:
    """What people may expect a denying pattern to match, and it does not.

    None found does not prove that nothing is missed.

    Raises:
        ConfigError: the pattern is refused.
    """
    parsed, matches = parse(pattern), Glob(pattern).matches
    if parsed.part is None or parsed.negated:
        return ()
    return tuple(_missed(parsed.part, matches))


def _widths(part: Part, matches: _Test) -> Iterator[Danger]:
    if all(map(matches, _STRANGERS)):
        yield Danger(DangerKind.MATCHES_EVERYTHING, _STRANGERS[0])
        return
    stems = _stems(part)
    gaps = _frames(part)
    if not any("://" in stem for stem in stems):
        yield from _commands(stems, gaps, matches)
    hosts = (gap.filled(host) for gap in gaps for host in _hosts(gap.before))
    if sample := _first(matches, hosts):
        yield Danger(DangerKind.LEAVES_HOST, sample)
    else:
        yield from _paths(stems, gaps, matches)


def _commands(stems: list[str], gaps: list[_Frame], matches: _Test) -> Iterator[Danger]:
    tails = (stem + tail for stem in stems for tail in _TAILS)
    words = {gap: gap.after[:1] in ("", " ") for gap in gaps}
    inside = (
        gap.filled(text)
        for gap, word in words.items()
        if gap.before
        for text in (_BEFORE_A_WORD if word else _BEFORE_TEXT)
    )
    instead = (
        gap.filled(text)
        for gap, word in words.items()
        if not gap.before
        for text in (_INSTEAD_OF_A_WORD if word else _INSTEAD)
    )
    if sample := _first(matches, tails) or _first(matches, inside):
        yield Danger(DangerKind.COMMAND_AFTER, sample)
    elif sample := _first(matches, instead):
        yield Danger(DangerKind.COMMAND_BEFORE, sample)


def _paths(stems: list[str], gaps: list[_Frame], matches: _Test) -> Iterator[Danger]:
    so_far = [stem for stem in stems if "/" in stem]
    folders = sorted({stem[: stem.rfind("/") + 1] for stem in so_far})
    folders += [stem + "/" for stem in so_far]
    ends = [""] + [stem[stem.rfind("/") + 1 :] for stem in stems]
    paths = (f + way + e for f in folders for e in _files(ends) for way in _ESCAPES)
    inside = (gap.filled(way) for gap in gaps if "/" in gap.before for way in _ESCAPES)
    if sample := _first(matches, paths) or _first(matches, inside):
        yield Danger(DangerKind.LEAVES_FOLDER, sample)
    first = (gap for gap in gaps if not gap.before and gap.after[:1] in ("", ".", "/"))
    if sample := _first(matches, (gap.filled(path) for gap in first for path in _ABSOLUTE)):
        yield Danger(DangerKind.OTHER_FOLDERS, sample)


def _hosts(before: str) -> tuple[str, ...]:
    """What would make another host of a star after this."""
    _, scheme, rest = before.partition("://")
    if not scheme or "/" in rest:
        return ()
    return (*_MORE_HOST, *_HOST) if rest else (*_HOST, *_MORE_HOST)


def _files(ends: list[str]) -> list[str]:
    return list(
        dict.fromkeys(["", *ends, *("/x" + end for end in ends), *("x" + end for end in ends)])
    )


def _stems(part: Part) -> list[str]:
    """Texts to go on from: a match, and what every match begins with."""
    heads = needs(part).heads
    stems = [part.sample(), *sorted(heads), *(head.rstrip() for head in sorted(heads))]
    return [stem for stem in dict.fromkeys(stems) if stem]


def _noted(pattern: str, parsed: Parsed, matches: _Test) -> Iterator[Danger]:
    for note in parsed.notes:
        sample = _first(lambda value: value != pattern and matches(value), _values(note, parsed))
        if sample is None and matches(pattern):
            sample = pattern
        if sample is not None:
            yield Danger(note.kind, sample, note.spelling)


def _values(note: Note, parsed: Parsed) -> Iterator[str]:
    """Values worth trying for a note, the telling ones first."""
    part = parsed.part
    if part is None or note.kind is DangerKind.TEXT_AFTER_ALL:
        return
    heads = sorted(needs(part).heads)
    if note.kind in (DangerKind.ANYTHING_BUT, DangerKind.NEGATED, DangerKind.LOOKS_AHEAD):
        sample = part.sample()
        yield from (head + other for head in [*heads, ""] for other in _OTHERS)
        yield from (sample[:at] + "x" + sample[at:] for at in range(len(sample), -1, -1))
    if note.kind is DangerKind.WHOLE_BRANCHES and isinstance(part, Either):
        yield from (branch.sample() for branch in reversed(part.parts))
    yield part.sample()
    yield from (part.sample() + other for other in _OTHERS)


def _first(matches: _Test, values: Iterable[str]) -> str | None:
    return next((value for value in values if value and matches(value)), None)


# How to make a value of each kind: what the star would take, or what stands before all of it.
_MISSED = (
    (MissKind.LINE_BREAK, ("x\ny", "\ny"), ""),
    (MissKind.HIDDEN_NAME, ("/.x", ".x", "x/.x"), ""),
    (MissKind.LEADING_SPACE, ("x", ""), " "),
)


def _missed(part: Part, matches: _Test) -> Iterator[Miss]:
    gaps = [gap for gap in _frames(part) if _takes_plain_text(gap, matches)]
    for kind, texts, lead in _MISSED:
        values = (lead + gap.filled(text) for gap in gaps for text in texts)
        sample = next((value for value in values if not matches(value)), None)
        if sample is not None:
            yield Miss(kind, sample)


def _takes_plain_text(gap: _Frame, matches: _Test) -> bool:
    return matches(gap.filled("x")) or matches(gap.filled(""))


class _Frame(NamedTuple):
    """What stands before and after one star or repeated set."""

    before: str
    after: str

    def filled(self, text: str) -> str:
        """The sample with this text in the place of the star."""
        return self.before + text + self.after


def _frames(part: Part) -> list[_Frame]:
    """A frame for each star, with nothing and with a letter in the places of the others."""
    found: dict[_Frame, None] = {}
    for other in ("", "x"):
        for number, frame in enumerate(_framed(part, other)):
            if number == _MOST_FRAMES:
                break
            found[frame] = None
    return list(found)


def _framed(part: Part, other: str) -> Iterator[_Frame]:
    if isinstance(part, Run | CarefulRun):
        yield _Frame("", "")
    elif isinstance(part, Either):
        for one in part.parts:
            yield from _framed(one, other)
    elif isinstance(part, Chain):
        samples = [_sample(one, other) for one in part.parts]
        for at, one in enumerate(part.parts):
            for before, after in _framed(one, other):
                yield _Frame("".join(samples[:at]) + before, after + "".join(samples[at + 1 :]))


def _sample(part: Part, other: str) -> str:
    if isinstance(part, CarefulRun):
        return other
    if isinstance(part, Run):
        return part.members.example() if other else ""
    if isinstance(part, Chain):
        return "".join(_sample(one, other) for one in part.parts)
    return _sample(part.parts[0], other) if isinstance(part, Either) else part.sample()
