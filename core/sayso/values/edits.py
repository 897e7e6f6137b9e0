"""Edits of files: two texts of a call as one difference, from which both can be read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Any

from sayso.text.agents import shown_as_agents
from sayso.text.secrets import marks_in
from sayso.text.visible import format_count
from sayso.values.value import Value

PAIRS = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("oldString", "newString"),
)
"""What tools call the text that goes and the text that comes."""

_LISTS = ("edits", "changes")
PATHS = ("file_path", "path", "filePath", "file", "filename", "notebook_path")
"""What tools call the file."""

_NEAR = 2
_MOST_LINES = 400
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a file: what goes, and what comes in its place."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Edits:
    """The changes that a call makes, and the names of the arguments that say so."""

    changes: tuple[Edit, ...]
    names: frozenset[str]
    path: str = ""


def edits_in(arguments: Mapping[str, Any]) -> Edits | None:
    """The changes that the arguments are; None where they are none, or are not all to be seen.

    Each argument that is taken is told in full by the differences: a list of changes whose
    members say anything else is none.
    """
    if marks_in(dict(arguments)):
        return None  # two secrets that are hidden alike would look as if nothing changed
    path = next((name for name in PATHS if isinstance(arguments.get(name), str)), "")
    found = _pair(arguments)
    if found is not None:
        edit, names = found
        return _checked((edit,), names, path)
    for name in _LISTS:
        changes = arguments.get(name)
        if isinstance(changes, list) and changes:
            pairs = [_pair(one) if isinstance(one, dict) else None for one in changes]
            taken = [
                pair[0]
                for one, pair in zip(changes, pairs, strict=True)
                if pair is not None and set(one) == pair[1]
            ]
            if len(taken) == len(changes):
                return _checked(tuple(taken), frozenset({name}), path)
    return None


def _pair(arguments: Mapping[str, Any]) -> tuple[Edit, frozenset[str]] | None:
    for old, new in PAIRS:
        before, after = arguments.get(old), arguments.get(new)
        if isinstance(before, str) and isinstance(after, str) and before != after:
            return Edit(before, after), frozenset({old, new})
    return None


def _checked(changes: tuple[Edit, ...], names: frozenset[str], path: str) -> Edits | None:
    texts = [text for edit in changes for text in (edit.old, edit.new)]
    if sum(map(len, texts)) > _LONGEST or sum(text.count("\n") for text in texts) > _MOST_LINES:
        return None  # to compare them would take long, and nobody would read it
    return Edits(changes, names, path)


def differences(
    edits: Edits, translations: NullTranslations, begin: Sequence[int] = ()
) -> Iterator[Value]:
    """Each change as the lines of a difference, below how many of them come and go.

    Those of which ``begin`` says at which line of the file they begin have the heading of a hunk.
    """
    known = begin if len(begin) == len(edits.changes) else (0,) * len(edits.changes)
    for number, (edit, at) in enumerate(zip(edits.changes, known, strict=True), 1):
        lines = list(_difference(edit))
        added, removed = (sum(line[:1] == sign for line in lines) for sign in "+-")
        several = len(edits.changes) > 1
        change = translations.gettext("change")
        name = f"{change} {number}" if several else change
        note = translations.gettext("{added} added, {removed} removed").format(
            added=added, removed=removed
        )
        heading = [_hunk(edit, at)] if at else []
        text = "\n".join([*heading, *lines])
        brief = "\n".join([*heading, *_brief(lines, translations)])
        yield Value(name, text, "diff", note=note, brief="" if brief == text else brief)


def _hunk(edit: Edit, at: int) -> str:
    """The heading of a hunk; no line of a difference begins as it does."""
    counts = (len(_lines(text.removesuffix("\n"))) for text in (edit.old, edit.new))
    old, new = (f"{at if count else max(at - 1, 0)},{count}" for count in counts)
    return f"@@ -{old} +{new} @@"


def _difference(edit: Edit) -> Iterator[str]:
    """All lines of both texts, each once where they are the same; never a line that is neither."""
    old, new = _lines(edit.old), _lines(edit.new)
    from difflib import SequenceMatcher  # nothing else needs it

    for what, old_from, old_to, new_from, new_to in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if what == "equal":
            yield from (f" {shown_line(line)}" for line in old[old_from:old_to])
            continue
        gone, come = old[old_from:old_to], new[new_from:new_to]
        alike = _look_alike(gone, come)
        yield from (f"-{shown_line(line, spelled=alike)}" for line in gone)
        yield from (f"+{shown_line(line, spelled=alike)}" for line in come)


def _lines(text: str) -> Sequence[str]:
    """The lines between line feeds, and none of a text that is empty."""
    return text.split("\n") if text else []


def _look_alike(gone: Sequence[str], come: Sequence[str]) -> bool:
    """Return True if lines differ in blanks alone, which nobody sees."""
    plain = {"".join(line.split()) for line in gone}
    return any("".join(line.split()) in plain for line in come)


def shown_line(line: str, *, spelled: bool = False) -> str:
    """The line with its last blanks said in words, and where it must be told apart all tabs."""
    end = line.rstrip(" \t")
    blanks = line[len(end) :]
    shown = shown_as_agents(end)
    if spelled:
        shown = shown.replace("\t", "⟨U+0009⟩")
    return shown + _said(blanks) if blanks else shown


def _said(blanks: str) -> str:
    tabs = blanks.count("\t")
    what = "space" if not tabs else "tab" if tabs == len(blanks) else "blank"
    return f"[{len(blanks)} {what}{'' if len(blanks) == 1 else 's'}]"


def _brief(lines: Sequence[str], translations: NullTranslations) -> Iterator[str]:
    """The lines that change with two around them; how many others there are, in our words."""
    changed = [number for number, line in enumerate(lines) if line[:1] != " "]
    near = {
        other
        for number in changed
        for other in range(max(number - _NEAR, 0), min(number + _NEAR + 1, len(lines)))
    }
    skipped = 0
    for number, line in enumerate(lines):
        if number not in near:
            skipped += 1
            continue
        if skipped:
            yield format_count(
                translations, "[{count} unchanged line]", "[{count} unchanged lines]", skipped
            )
            skipped = 0
        yield line
    if skipped:
        yield format_count(
            translations, "[{count} unchanged line]", "[{count} unchanged lines]", skipped
        )
