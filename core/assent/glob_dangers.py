"""What a person may not expect of a glob, shown by a value that matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assent.glob_parser import Parsed
from assent.glob_parts import Either, Part
from assent.glob_signs import Note

_Test = Callable[[str], bool]

_STRANGERS = ("rm -rf /", "a", "/etc/passwd", "https://example.com/x")
_TAILS = ("; rm -rf /", " ; rm -rf /", " && rm -rf /")
_ESCAPES = ("../../etc/passwd", "../etc/passwd", "x/../../etc/passwd", "..", "../x")
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
    tails = (stem + tail for stem in stems for tail in _TAILS)
    if example := _first(matches, tails):
        yield _sentence("As a command it also allows another one after it", example)
    paths_so_far = [stem for stem in stems if "/" in stem]
    folders = sorted({stem[: stem.rfind("/") + 1] for stem in paths_so_far})
    folders += [stem + "/" for stem in paths_so_far]
    ends = [""] + [stem[stem.rfind("/") + 1 :] for stem in stems]
    paths = (f + way + e for f in folders for e in _files(ends) for way in _ESCAPES)
    if example := _first(matches, paths):
        yield _sentence("It does not stay inside the folder", example)


def _files(ends: list[str]) -> list[str]:
    return list(
        dict.fromkeys(["", *ends, *("/x" + end for end in ends), *("x" + end for end in ends)])
    )


def _stems(part: Part) -> list[str]:
    """Texts to go on from: a match, and the beginnings every match has."""
    heads, _ = part.heads()
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
    heads = sorted(part.heads()[0])
    if note.kind in ("not", "negation", "look"):
        sample = part.sample()
        yield from (head + other for head in [*heads, ""] for other in _OTHERS)
        yield from (sample[:at] + "x" + sample[at:] for at in range(len(sample), -1, -1))
    if note.kind == "branches" and isinstance(part, Either):
        yield from (branch.sample() for branch in reversed(part.parts))
    yield part.sample()
    yield from (part.sample() + other for other in _OTHERS)


def _first(matches: _Test, values: Iterator[str]) -> str | None:
    return next((value for value in values if value and matches(value)), None)
