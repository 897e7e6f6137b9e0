"""Values as parts of a rich text: each name outside, each text in a box of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from sayso.values import Value
from sayso_slack.card.elements import Block, code, literal, preformatted, section


def value_parts(values: Iterable[Value]) -> Iterator[Block]:
    """The values in order; short ones share a section, a line each.

    Names are bold and texts are code or in boxes: wherever a line is wrapped, none that
    begins with a text of an agent's looks like one that begins with a name.
    """
    for is_short, some in groupby(values, key=lambda value: value.is_short):
        if is_short:
            yield section(*_lines(some))
        else:
            for value in some:
                yield from _box(value)


def _lines(values: Iterable[Value]) -> Iterator[Block]:
    for number, value in enumerate(values):
        yield literal(f"{chr(10) if number else ''}{value.name} ", bold=True)
        yield code(value.text)


def _box(value: Value) -> Iterator[Block]:
    heading = [literal(value.name, bold=True)] if value.name else []
    if value.note:
        heading.append(literal(f" · {value.note}" if heading else value.note))
    if heading:
        yield section(*heading)
    if value.text:
        yield preformatted(value.text)
