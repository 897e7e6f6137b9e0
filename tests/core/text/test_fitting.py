"""Several texts in one room: what matters least gives way first."""

from __future__ import annotations

from sayso.text.visible import Ranked, cut_by_rank

TEXTS = [Ranked("never cut"), Ranked("a" * 20, 1), Ranked("b" * 20, 2), Ranked("c" * 20, 2)]


def test_texts_that_fit_stay_as_they_are() -> None:
    assert cut_by_rank(TEXTS, 0, least=5) == ([ranked.text for ranked in TEXTS], 0)


def test_the_highest_rank_gives_way_first_and_keeps_a_readable_rest() -> None:
    texts, over = cut_by_rank(TEXTS, 18, least=5)

    assert texts == ["never cut", "a" * 20, "bbbb…", "c" * 16 + "…"]
    assert over == 0


def test_what_cannot_be_cut_is_said() -> None:
    texts, over = cut_by_rank(TEXTS, 100, least=5)

    assert texts == ["never cut", "aaaa…", "bbbb…", "cccc…"]
    assert over == 100 - 45


def test_the_length_is_counted_as_the_room_counts() -> None:
    texts, over = cut_by_rank(
        [Ranked("💩" * 5, 1)],
        4,
        least=1,
        size=lambda text: 2 * len(text),
        cut=lambda text, most: text[: most // 2],
    )

    assert (texts, over) == (["💩" * 3], 0)
