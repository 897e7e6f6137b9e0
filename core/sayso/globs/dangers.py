"""What a person may not expect of a glob, shown by a value that matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sayso.globs.frames import Frame, frames
from sayso.globs.needs import needs
from sayso.globs.parser import Parsed
from sayso.globs.parts import Either, Part
from sayso.globs.signs import Note

_Test = Callable[[str], bool]

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

_NOTES = {
    "negation": "The leading ! allows nearly everything that is not named",
    "bang": "{} is no negation: it takes the ! and the characters after it; write [^ to negate",
    "range": "{} is one character out of a set, not a number in a range",
    "not": "{} takes anything but what is named, so also what nobody thought of",
    "branches": "The | makes a choice: each side is a whole pattern of its own",
    "escape": "{} has a meaning of its own, as in a regular expression",
    "quotes": "{} means what is between the quotes: the value has no quotes there",
    "risky": "{} repeats a repetition, so it is taken as plain text",
    "look": "{}...) only looks ahead and takes no characters",
    "here": "The leading ./ is dropped: the value without it is meant",
}


def warnings(pattern: str, parsed: Parsed, matches: _Test) -> tuple[str, ...]:
    """A sentence for each surprise, without repeating one."""
    if parsed.part is None:
        return (_sentence("It matches nothing but its own spelling", pattern),)
    found = [*_widths(parsed.part, matches), *_noted(pattern, parsed, matches)]
    return tuple(dict.fromkeys(found))


def _sentence(meaning: str, example: str) -> str:
    return f"{meaning}: for example {example!r}"


def _widths(part: Part, matches: _Test) -> Iterator[str]:
    if all(map(matches, _STRANGERS)):
        yield _sentence("It matches nearly everything", _STRANGERS[0])
        return
    stems = _stems(part)
    gaps = frames(part)
    if not any("://" in stem for stem in stems):
        yield from _commands(stems, gaps, matches)
    hosts = (gap.filled(host) for gap in gaps for host in _hosts(gap.before))
    if example := _first(matches, hosts):
        yield _sentence("It does not stay on the host", example)
    else:
        yield from _paths(stems, gaps, matches)


def _commands(stems: list[str], gaps: list[Frame], matches: _Test) -> Iterator[str]:
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
    if example := _first(matches, tails) or _first(matches, inside):
        yield _sentence("As a command it also allows another one after it", example)
    elif example := _first(matches, instead):
        yield _sentence("As a command it allows any other before its text", example)


def _paths(stems: list[str], gaps: list[Frame], matches: _Test) -> Iterator[str]:
    so_far = [stem for stem in stems if "/" in stem]
    folders = sorted({stem[: stem.rfind("/") + 1] for stem in so_far})
    folders += [stem + "/" for stem in so_far]
    ends = [""] + [stem[stem.rfind("/") + 1 :] for stem in stems]
    paths = (f + way + e for f in folders for e in _files(ends) for way in _ESCAPES)
    inside = (gap.filled(way) for gap in gaps if "/" in gap.before for way in _ESCAPES)
    if example := _first(matches, paths) or _first(matches, inside):
        yield _sentence("It does not stay inside the folder", example)
    first = (gap for gap in gaps if not gap.before and gap.after[:1] in ("", ".", "/"))
    if example := _first(matches, (gap.filled(path) for gap in first for path in _ABSOLUTE)):
        yield _sentence("As a path it also allows those of other folders", example)


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
    """Texts to go on from: a match, and the beginnings every match has."""
    heads = needs(part).heads
    stems = [part.sample(), *sorted(heads), *(head.rstrip() for head in sorted(heads))]
    return [stem for stem in dict.fromkeys(stems) if stem]


def _noted(pattern: str, parsed: Parsed, matches: _Test) -> Iterator[str]:
    for note in parsed.notes:
        example = _first(lambda value: value != pattern and matches(value), _values(note, parsed))
        if example is None and matches(pattern):
            example = pattern
        if example is not None:
            yield _sentence(_NOTES[note.kind].format(note.spelling), example)


def _values(note: Note, parsed: Parsed) -> Iterator[str]:
    """Values worth trying for a note, the telling ones first."""
    part = parsed.part
    if part is None or note.kind == "risky":
        return
    heads = sorted(needs(part).heads)
    if note.kind in ("not", "negation", "look"):
        sample = part.sample()
        yield from (head + other for head in [*heads, ""] for other in _OTHERS)
        yield from (sample[:at] + "x" + sample[at:] for at in range(len(sample), -1, -1))
    if note.kind == "branches" and isinstance(part, Either):
        yield from (branch.sample() for branch in reversed(part.parts))
    yield part.sample()
    yield from (part.sample() + other for other in _OTHERS)


def _first(matches: _Test, values: Iterable[str]) -> str | None:
    return next((value for value in values if value and matches(value)), None)


# Of each kind a start to find it with, and what it may be called.
_MISSED = (
    ("line breaks", ("x\ny", "\ny"), ""),
    ("hidden names", ("/.x", ".x", "x/.x"), ""),
    ("a leading space", (), " "),
)


def misses(part: Part, matches: _Test) -> str:
    """What a person may expect of a glob that denies, and it does not match; empty for a text."""
    gaps = [gap for gap in frames(part) if _plain_match(gap, matches)]
    kinds: list[str] = []
    examples: list[str] = []
    for kind, texts, lead in _MISSED:
        values = (lead + gap.filled(text) for gap in gaps for text in texts or ("x", ""))
        example = next((value for value in values if not matches(value)), None)
        if example is not None:
            kinds.append(kind)
            examples.append(repr(example))
    if not kinds:
        return ""
    *some, last = kinds
    named = f"{', '.join(some)} or {last}" if some else last
    return f"It does not match values with {named}: for example {', '.join(examples)}"


def _plain_match(gap: Frame, matches: _Test) -> bool:
    return matches(gap.filled("x")) or matches(gap.filled(""))
