"""Several texts in one room: the least important give way first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sayso.text.visible import shortened


@dataclass(frozen=True, slots=True)
class Ranked:
    """A text that gives way where there is no room; those of the highest rank do so first.

    One of rank 0 is never cut.
    """

    text: str
    rank: int = 0


def cut_by_rank(
    texts: Sequence[Ranked],
    over: int,
    *,
    least: int,
    size: Callable[[str], int] = len,
    cut: Callable[[str, int], str] = shortened,
) -> tuple[list[str], int]:
    """The texts, cut until they are ``over`` less in all, and how much is still over.

    Each keeps at least ``least``, counted by ``size`` and cut by ``cut``.
    """
    kept = [ranked.text for ranked in texts]
    for index in sorted(range(len(texts)), key=lambda index: -texts[index].rank):
        if over <= 0 or texts[index].rank == 0:
            break
        whole = size(kept[index])
        kept[index] = cut(kept[index], max(least, whole - over))
        over -= whole - size(kept[index])
    return kept, max(over, 0)
