"""No line that does harm is known by what was learnt from lines that do none."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import pytest

from sayso.shell.line import Line
from sayso.shell.line_matcher import Words, equivalent_prefixes, line_prefixes, output_head
from sayso.shell.prefixes import Prefix
from sayso.shell.reader import read

HERE = Path(__file__).parent
HARMLESS: list[str] = json.loads((HERE / "harmless.json").read_text())
DANGEROUS: list[str] = json.loads((HERE / "dangerous.json").read_text())


def learnt(text: str) -> tuple[Prefix, ...]:
    """What is held once a person allowed all that begins as this line does, and what is alike."""
    return equivalent_prefixes(needed(text))


def needed(text: str) -> tuple[Prefix, ...]:
    line = read(text)
    found = None if line is None else line_prefixes(line)
    assert found is not None, text
    return found


def same(text: str) -> tuple[Words, ...] | None:
    """What another line would have to have the same, to be allowed with this one."""
    line = read(text)
    return None if line is None else output_head(line)


def fits(line: Line, held: Collection[Prefix]) -> bool:
    found = line_prefixes(line)
    return found is not None and all(one in held for one in found)


def test_there_are_enough_lines_of_both_kinds() -> None:
    assert len(HARMLESS) >= 100
    assert len(DANGEROUS) >= 200
    assert not set(HARMLESS) & set(DANGEROUS)


@pytest.mark.parametrize("harmless", HARMLESS)
def test_a_harmless_line_fits_to_what_was_learnt_from_it(harmless: str) -> None:
    line = read(harmless)

    assert line is not None
    assert fits(line, learnt(harmless))


def test_no_dangerous_line_fits_to_what_was_learnt_from_all_harmless_ones() -> None:
    held = {words for text in HARMLESS for words in learnt(text)}
    allowed = [text for text in DANGEROUS if (line := read(text)) is not None and fits(line, held)]

    assert len(held) > 40
    assert allowed == []


def test_no_dangerous_line_fits_where_it_stands_beside_harmless_ones() -> None:
    held = {words for text in HARMLESS for words in learnt(text)}
    allowed = [
        text
        for dangerous in DANGEROUS
        if not dangerous.endswith("\\")  # which would take the blank after it for a letter
        for text in (f"ls && {dangerous}", f"{dangerous}\nls", f"git status; {dangerous} | head")
        if (line := read(text)) is not None and fits(line, held)
    ]

    assert allowed == []


def test_no_dangerous_line_is_the_same_but_for_looking_as_a_harmless_one() -> None:
    held = {found for text in HARMLESS if (found := same(text)) is not None}
    allowed = [
        text
        for dangerous in DANGEROUS
        for text in (dangerous, f"{dangerous} | head", f"ls && {dangerous}", f"{dangerous}; ls")
        if same(text) in held
    ]

    assert len(held) > 40
    assert allowed == []


@pytest.mark.parametrize("harmless", HARMLESS)
def test_what_was_learnt_can_be_said_as_a_line(harmless: str) -> None:
    for words in learnt(harmless):
        said = " ".join(words)
        if words[-2:] in (("git", "commit"), ("git", "pull")):
            continue  # these need an option more
        if words[-2:] in (("kubectl", "get"), ("kubectl", "describe")):
            continue

        assert needed(said) == (words,)
