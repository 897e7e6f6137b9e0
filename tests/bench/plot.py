"""Lines over a logarithmic axis, as SVG: a few kilobytes, the same for the same figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

Points = Sequence[tuple[float, float]]
_Place = Callable[[float, float], tuple[float, float]]

_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 30, 40, 75
_COLOURS = ("#4051b5", "#c2410c", "#15803d", "#7c3aed", "#475569")


@dataclass(frozen=True)
class Axis:
    """What is on an axis; equal distances are equal factors, or else equal differences."""

    label: str
    is_log: bool = True

    def of(self, value: float) -> float:
        """Where a value is."""
        return math.log10(value) if self.is_log else value


def plot(title: str, across: Axis, up: Axis, lines: Mapping[str, Points]) -> str:
    """The lines by their names; an axis without logarithms begins at nought."""
    points = [point for line in lines.values() for point in line]
    xs = _span(across, [x for x, _ in points])
    ys = _span(up, [y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        right = _part(across.of(x), xs) * (_WIDTH - _LEFT - _RIGHT)
        high = _part(up.of(y), ys) * (_HEIGHT - _TOP - _BOTTOM)
        return round(_LEFT + right, 1), round(_HEIGHT - _BOTTOM - high, 1)

    about = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12" role="img"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {about}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" font-weight="bold">{escape(title)}</text>',
        *_across(across, sorted({x for x, _ in points}), place, 10 ** ys[0] if up.is_log else 0),
        *_up(up, ys, place, min(x for x, _ in points)),
    ]
    for number, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        spots = [place(x, y) for x, y in line]
        path = " ".join(f"{x},{y}" for x, y in spots)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in spots]
        left = _LEFT + number * (_WIDTH - _LEFT - _RIGHT) // len(lines)
        parts.append(f'<text x="{left}" y="{_HEIGHT - 12}" fill="{colour}">● {escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _span(axis: Axis, values: Sequence[float]) -> tuple[float, float]:
    if not axis.is_log:
        return 0.0, max(values) * 1.1
    low, high = axis.of(min(values)), axis.of(max(values))
    return math.floor(low * 3) / 3, max(math.ceil(high * 3) / 3, low + 0.5)


def _part(value: float, span: tuple[float, float]) -> float:
    return (value - span[0]) / (span[1] - span[0])


def _across(axis: Axis, values: Sequence[float], place: _Place, floor: float) -> list[str]:
    """A mark for each value that was measured."""
    marks = []
    for value in values:
        x, y = place(value, floor or 0)
        marks.append(
            f'<text x="{x}" y="{y + 18}" text-anchor="middle" fill="#555">{_said(value)}</text>'
        )
    middle = (_LEFT + _WIDTH - _RIGHT) // 2
    marks.append(
        f'<text x="{middle}" y="{_HEIGHT - 36}" text-anchor="middle">{escape(axis.label)}</text>'
    )
    return marks


def _up(axis: Axis, span: tuple[float, float], place: _Place, left: float) -> list[str]:
    """Lines across, at 1, 2 and 5 of each ten, or at quarters."""
    if axis.is_log:
        tens = range(math.floor(span[0]), math.ceil(span[1]) + 1)
        values = [digit * 10.0**ten for ten in tens for digit in (1, 2, 5)]
        values = [value for value in values if span[0] <= axis.of(value) <= span[1]]
    else:
        values = [span[1] * part / 4 for part in range(5)]
    marks = []
    for value in values:
        _, y = place(left, value)
        said = f'text-anchor="end" fill="#555">{_said(value)}</text>'
        marks.append(f'<path d="M{_LEFT} {y}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        marks.append(f'<text x="{_LEFT - 6}" y="{y + 4}" {said}')
    marks.append(f'<text x="8" y="{_TOP - 4}" fill="#555">{escape(axis.label)}</text>')
    return marks


def _said(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
