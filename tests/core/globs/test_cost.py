"""The work of a glob is bounded by what the pattern says, whatever the value; too much is refused.

Steps are counted where the work is done, the search for sets of characters in the value among
them. The limit of steps takes less than 10 ms for a value of 10 kB on one core.
"""

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.errors import ConfigError
from sayso.globs.cost import MOST_STEPS, most_steps
from sayso.globs.glob import Glob
from sayso.globs.parser import parse
from sayso.globs.parts import Literal, Part
from sayso.globs.sets import CharSet, chars, charset
from sayso.globs.value import FEW_CHARS, FEW_TEXTS, PASS_STEPS, Text

ROWS = json.loads((Path(__file__).parent / "picomatch_generated.json").read_text(encoding="utf-8"))[
    "rows"
]
MANY = "".join(map(chr, range(0x4E00, 0x4E00 + 10_000)))
# One character of each page of 256, then the next of each.
PAGES = "".join(chr(page << 8 | low) for low in range(44) for page in range(1, 215))
VALUES = [
    *("a" * 10_000, "ab" * 5_000, "a☃" * 5_000, "☃" + "ab" * 4_999, "ab" * 4_990 + "x" * 20),
    *("a/" * 5_000, "/." * 5_000, "aé" * 5_000, "a😀" * 3_300, "a" * 9_999 + "b"),
    *(MANY[:9_999] + "x", MANY[:450] * 22 + "x", MANY[:150] * 66 + "x", PAGES[:10_000]),
]
HEAVY = [
    "*(a|b)" * 16,
    "".join(f"[a{chr(0x400 + at)}]*" for at in range(49)),
    "*".join(f"[^{chr(at << 8 | 5)}]" for at in range(1, 49)),
    "[" + "".join(chr(page << 8 | 5) for page in range(1, 60)) + "]*x",
    "*" + "*".join(MANY[:150]) + "*[x]*",
    "*" + "*".join(MANY[at * 2 : at * 2 + 2] for at in range(100)) + "*[x]",
    "*" + "*".join("a" * (20 + at % 66) for at in range(200)) + "*[b]*",
    "*" + "a" * 5_000 + "?*b",
    "@(" + "|".join(f"*(ab|c{chr(100 + at)})" for at in range(16)) + ")",
    "@(" + "|".join(f"*(ab|c{chr(100 + at)}e)" for at in range(3)) + ")",
    "*(ab|x)x*(ab|x)x",
    "+(" + "|".join(f"a{sign}" for sign in "bcdefghijklmnopqrst") + ")",
    "*a" * 400,
    "a/**/" * 80,
    "!(!(!(*a*a)))c",
]


def the_part(pattern: str) -> Part | None:
    try:
        return parse(pattern).part
    except ConfigError:
        return None


def steps(part: Part, value: str) -> int:
    text = Text(value)
    part.starts(text, 1)
    return text.steps


@pytest.mark.parametrize("pattern", HEAVY, ids=lambda text: ascii(text)[:24])
def test_the_heaviest_patterns_stay_below_the_limit_with_every_value(pattern: str) -> None:
    part = parse(pattern).part
    assert part is not None

    for value in VALUES:
        assert steps(part, value) <= most_steps(part) <= MOST_STEPS


def test_all_generated_patterns_stay_below_the_limit_with_every_value() -> None:
    parts = [part for row in ROWS[::4] if (part := the_part(row[1])) is not None]
    assert len(parts) > 80

    for part in parts:
        for value in VALUES[::2]:
            assert steps(part, value) <= most_steps(part)
            assert isinstance(part, Literal) or most_steps(part) <= MOST_STEPS


def test_an_equal_set_is_looked_for_once_however_often_it_is_written() -> None:
    """Sixteen times the same choice of letters, in a value that is not Latin-1."""
    part = parse("*(a|b)" * 16).part
    assert part is not None

    assert 3 * PASS_STEPS <= steps(part, "a☃" * 5_000) < 5 * PASS_STEPS


def test_going_through_a_value_for_a_set_is_counted_for_every_page_of_it() -> None:
    value = "a\u0105\u0205" * 3_000
    for members, passes in [("ab", 2), ("ab\u0105\u0106", 4), ("ab\u0405\u0406", 2)]:
        text = Text(value)
        text.mask(chars(members))
        assert text.steps == passes * PASS_STEPS
    latin = Text("aé" * 5_000)
    latin.mask(chars("ab"))
    assert latin.steps == PASS_STEPS


@settings(deadline=None)
@given(st.text("ab☃", max_size=80), st.text("ab☃", min_size=1, max_size=3))
@example("a" * 30, "aa")
def test_a_text_is_found_everywhere_or_not_at_all(value: str, part: str) -> None:
    found = Text(value).few(part)
    ends = [at + len(part) for at in range(len(value)) if value.startswith(part, at)]

    assert found == (None if len(ends) > most(part) else sum(1 << len(value) - end for end in ends))


def most(part: str) -> int:
    return FEW_CHARS if len(part) == 1 else FEW_TEXTS


@pytest.mark.parametrize(
    "pattern",
    [
        "[" + "".join(chr(page << 8 | 5) for page in range(1, 215)) + "]*x",
        "*".join(f"[{chr(at << 8 | 5)}{chr(at << 8 | 7)}]" + "é*" * 9 for at in range(1, 49)) * 2,
        "*" + "*".join(MANY[:450]) + "*[x]*",
        "*" + "*".join("a" * (64 + at % 66) for at in range(480)) + "*b",
        "@(" + "|".join(f"*(ab|c{chr(100 + at)}e)" for at in range(16)) + ")",
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_a_pattern_that_may_take_longer_is_refused_with_the_fix(pattern: str) -> None:
    with pytest.raises(ConfigError, match=r"write several patterns|1000 parts"):
        Glob(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "src/{" + ",".join(f"module_{at}" for at in range(300)) + "}/*.py",
        "*(a|bc)*(d|ef)*(g|hij)",
        MANY[:2_000] + "*",
        "a/**/b/**/c/*.{ts,tsx,js,jsx}",
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_what_people_write_is_not_refused(pattern: str) -> None:
    assert Glob(pattern).matches(pattern)


ranges = st.tuples(st.integers(0, 0xFFFF), st.integers(0, 0x300)).map(
    lambda pair: (pair[0], min(0xFFFF, pair[0] + pair[1]))
)
units = st.characters(max_codepoint=0xFFFF)
letters = st.sampled_from("abz/.\n é☃\u0100\u01ff\u2028\ud800\uffff") | st.characters()


@settings(max_examples=examples(300))
@given(
    st.lists(ranges, max_size=6).map(charset) | st.text(units, max_size=4).map(chars),
    st.text(letters, min_size=1, max_size=60),
)
def test_a_set_is_found_where_its_members_stand(members: CharSet, value: str) -> None:
    for one in (members, members.complement()):
        text = Text(value)
        expected = "".join("1" if unit in one else "0" for unit in text.value)

        assert text.mask(one) == int(expected, 2)


@pytest.mark.parametrize("piece", ["[", "[a", "-[", "[[:", "[[:a", "[.a"])
def test_a_pattern_of_open_brackets_is_refused_within_50_milliseconds(piece: str) -> None:
    took = []
    for _ in range(5):
        began = time.process_time()
        with pytest.raises(ConfigError, match="more than 40 groups"):
            Glob((piece * 60_000)[:60_000])
        took.append(time.process_time() - began)

    assert min(took) <= 0.05
