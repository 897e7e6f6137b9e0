"""What people may not expect of a glob, each with a value that proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from gettext import NullTranslations
from itertools import chain, islice
from typing import NamedTuple

from sayso.locales import ENGLISH, gettext_noop
from sayso.rules.glob import Glob
from sayso.rules.glob_reader import ParsedGlob, read_glob
from sayso.rules.glob_to_regex import Branch, Branches, Group, Node, Set, Star, Text

# More stars than this show nothing new, and neither do more beginnings.
_MAX_GAPS, _MAX_HEADS = 24, 32
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


class DangerKind(Enum):
    """What people may not expect of a pattern; ``{}`` is the part of it that means it."""

    MATCHES_EVERYTHING = gettext_noop("It matches nearly everything")
    COMMAND_AFTER = gettext_noop("As a command, it also allows another one after it")
    COMMAND_BEFORE = gettext_noop("As a command, it allows any other one before its text")
    LEAVES_FOLDER = gettext_noop("It does not stay inside the folder")
    OTHER_FOLDERS = gettext_noop("As a path, it also allows those of other folders")
    LEAVES_HOST = gettext_noop("It does not stay on the host")
    NEGATED = gettext_noop("The leading ! allows nearly everything that is not named")
    BANG_IN_SET = gettext_noop(
        "{} is not a negation: it matches the ! and the characters after it; write [^ to negate"
    )
    RANGE_AS_SET = gettext_noop("{} is one character out of a set, not a number in a range")
    ANYTHING_BUT = gettext_noop(
        "{} matches anything but what is named, including what nobody thought of"
    )
    WHOLE_BRANCHES = gettext_noop("The | makes a choice: each side is a whole pattern of its own")
    DROPPED_START = gettext_noop("The leading ./ is dropped: the value without it is meant")


class MissKind(Enum):
    """Values that a star leaves out."""

    LINE_BREAK = "line breaks"
    HIDDEN_NAME = "hidden names"
    LEADING_SPACE = "a leading space"


@dataclass(frozen=True, slots=True)
class Danger:
    """Something unexpected that a pattern matches, with a value: ``sample``.

    ``spelling`` is the part of the pattern that means it, empty where it is no single part.
    """

    kind: DangerKind
    sample: str
    spelling: str = ""


@dataclass(frozen=True, slots=True)
class Miss:
    """Something unexpected that a pattern does not match: ``sample`` is such a value."""

    kind: MissKind
    sample: str


# How to make a value of each kind: what the star would take, and what stands before all of it.
_MISSED = (
    (MissKind.LINE_BREAK, ("x\ny", "\ny"), ""),
    (MissKind.HIDDEN_NAME, ("/.x", ".x", "x/.x"), ""),
    (MissKind.LEADING_SPACE, ("x", ""), " "),
)


@lru_cache(maxsize=1_024)
def find_dangers(pattern: str) -> tuple[Danger, ...]:
    """What people may not expect of this pattern. None found does not prove it harmless.

    Raises:
        ConfigError: the pattern is refused.
    """
    parsed, matches = read_glob(pattern), Glob(pattern).matches
    branches = _shape(parsed)
    return tuple(dict.fromkeys([*_widths(branches, matches), *_noted(pattern, parsed, matches)]))


def explain_danger(danger: Danger, translations: NullTranslations = ENGLISH) -> str:
    """Say what is unexpected, in a sentence that ends in the sample, as a Python literal."""
    meaning = translations.gettext(danger.kind.value).format(danger.spelling)
    return translations.gettext("{}: for example {}").format(meaning, repr(danger.sample))


def find_misses(pattern: str) -> tuple[Miss, ...]:
    """What people may expect a denying pattern to match, and it does not.

    None found does not prove that nothing is missed.

    Raises:
        ConfigError: the pattern is refused.
    """
    parsed, matches = read_glob(pattern), Glob(pattern).matches
    gaps = [
        gap for gap in _gaps(parsed.branches) if matches(gap.filled("x")) or matches(gap.filled(""))
    ]
    found: list[Miss] = []
    for kind, texts, lead in _MISSED if ("NEGATED", "!") not in parsed.notes else ():
        values = (lead + gap.filled(text) for gap in gaps for text in texts)
        if sample := next((value for value in values if not matches(value)), None):
            found.append(Miss(kind, sample))
    return tuple(found)


_Test = Callable[[str], bool]


def _shape(parsed: ParsedGlob) -> Branches:
    """The branches that are written in the pattern."""
    return parsed.excluded if ("NEGATED", "!") in parsed.notes else parsed.branches


def _widths(branches: Branches, matches: _Test) -> Iterator[Danger]:
    if all(map(matches, _STRANGERS)):
        yield Danger(DangerKind.MATCHES_EVERYTHING, _STRANGERS[0])
        return
    heads = [head for branch in branches for head in _heads(branch)[0]]
    stems = [_sample(branches[-1], last=True), *heads, *(head.rstrip() for head in heads)]
    stems, gaps = list(dict.fromkeys(filter(None, stems))), _gaps(branches)
    if not any("://" in stem for stem in stems):
        yield from _commands(stems, gaps, matches)
    hosts = (gap.filled(host) for gap in gaps for host in _hosts(gap.before))
    if sample := _first(matches, hosts):
        yield Danger(DangerKind.LEAVES_HOST, sample)
    else:
        yield from _paths(stems, gaps, matches)


def _commands(stems: list[str], gaps: list[_Gap], matches: _Test) -> Iterator[Danger]:
    after, before = [stem + tail for stem in stems for tail in _TAILS], list[str]()
    for gap in gaps:
        word = gap.after[:1] in ("", " ")
        if gap.before:
            after += map(gap.filled, _BEFORE_A_WORD if word else _BEFORE_TEXT)
        else:
            before += map(gap.filled, _INSTEAD_OF_A_WORD if word else _INSTEAD)
    if sample := _first(matches, after):
        yield Danger(DangerKind.COMMAND_AFTER, sample)
    elif sample := _first(matches, before):
        yield Danger(DangerKind.COMMAND_BEFORE, sample)


def _paths(stems: list[str], gaps: list[_Gap], matches: _Test) -> Iterator[Danger]:
    so_far = [stem for stem in stems if "/" in stem]
    folders = sorted({stem[: stem.rfind("/") + 1] for stem in so_far})
    ends = ["", *(stem[stem.rfind("/") + 1 :] for stem in stems)]
    files = dict.fromkeys([*ends, *("/x" + end for end in ends), *("x" + end for end in ends)])
    folders += [stem + "/" for stem in so_far]
    paths = (folder + way + file for folder in folders for file in files for way in _ESCAPES)
    inside = (gap.filled(way) for gap in gaps if "/" in gap.before for way in _ESCAPES)
    if sample := _first(matches, paths) or _first(matches, inside):
        yield Danger(DangerKind.LEAVES_FOLDER, sample)
    first = [gap for gap in gaps if not gap.before and gap.after[:1] in ("", ".", "/")]
    if sample := _first(matches, (gap.filled(path) for gap in first for path in _ABSOLUTE)):
        yield Danger(DangerKind.OTHER_FOLDERS, sample)


def _hosts(before: str) -> tuple[str, ...]:
    """What would make another host of a star after this."""
    _, scheme, rest = before.partition("://")
    if not scheme or "/" in rest:
        return ()
    return (*_MORE_HOST, *_HOST) if rest else (*_HOST, *_MORE_HOST)


def _noted(pattern: str, parsed: ParsedGlob, matches: _Test) -> Iterator[Danger]:
    samples = [_sample(branch, last=True) for branch in reversed(_shape(parsed))]
    texts = [sample + other for sample in samples for other in ("", *_OTHERS)]
    if parsed.excluded:
        texts = [*_OTHERS, *texts]
    for kind, spelling in parsed.notes:
        found = _first(lambda value: value != pattern and matches(value), texts)
        if sample := found or _first(matches, [pattern]):
            yield Danger(DangerKind[kind], sample, spelling)


def _first(matches: _Test, values: Iterable[str]) -> str | None:
    return next((value for value in values if value and matches(value)), None)


class _Gap(NamedTuple):
    """What stands before and after a star or a repeated group."""

    before: str
    after: str

    def filled(self, text: str) -> str:
        """A value with this text in the place of the star."""
        return self.before + text + self.after


def _gaps(branches: Branches) -> list[_Gap]:
    """A gap for each star, with nothing and with a letter in the places of the others."""
    found: dict[_Gap, None] = {}
    for other in ("", "x"):
        gaps = (gap for branch in branches for gap in _gaps_of(branch, other))
        found.update(dict.fromkeys(islice(gaps, _MAX_GAPS)))
    return list(found)


def _gaps_of(branch: Branch, other: str) -> Iterator[_Gap]:
    for at, node in enumerate(branch):
        inner: Iterable[_Gap] = ()
        if isinstance(node, Star):
            inner = [_Gap("", "")]
        elif isinstance(node, Group) and node.sign in ("", "?"):
            inner = (gap for one in node.branches for gap in _gaps_of(one, other))
        elif isinstance(node, Group) and _is_set(node.branches):
            inner = [_Gap(_sample_of(node, "", last=True), "")]
        for gap in inner:
            before, after = _sample(branch[:at], other), _sample(branch[at + 1 :], other)
            yield _Gap(before + gap.before, gap.after + after)


def _is_set(branches: Branches) -> bool:
    return len(branches) == 1 and len(branches[0]) == 1 and isinstance(branches[0][0], Set)


def _sample(branch: Branch, star: str = "", *, last: bool = False) -> str:
    """A text that the branch matches, as far as that can be told without looking around."""
    return "".join(_sample_of(node, star, last=last) for node in branch)


def _sample_of(node: Node, star: str, *, last: bool) -> str:
    if isinstance(node, Text):
        return node.text
    if isinstance(node, Star) or (isinstance(node, Group) and node.sign in ("?", "*")):
        return star if isinstance(node, Star) else ""
    if isinstance(node, Group):
        first, end = _sample(node.branches[0], star), _sample(node.branches[-1], star, last=last)
        return (end or first) if last else first
    others = map(chr, range(ord(" "), 0xD800))
    return next(
        one for one in chain("x", (low for low, _ in node.ranges[::-1]), others) if one in node
    )


def _heads(branch: Branch) -> tuple[list[str], bool]:
    """Texts one of which begins every match, and whether they are all of it."""
    heads = [""]
    for node in branch:
        inner, whole = [node.text] if isinstance(node, Text) else [""], isinstance(node, Text)
        if isinstance(node, Group) and not node.sign:
            found = [_heads(one) for one in node.branches]
            inner, whole = (
                [head for some, _ in found for head in some],
                all(one[1] for one in found),
            )
        if len(heads) * len(inner) > _MAX_HEADS:
            return heads, False
        heads = [head + more for head in heads for more in inner]
        if not whole:
            return heads, False
    return heads, True
