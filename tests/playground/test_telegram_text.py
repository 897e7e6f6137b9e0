from typing import Any

import pytest

from sayso_playground.telegram.text import (
    EntityError,
    checked_entities,
    parse_html,
    trimmed,
    utf16,
    with_live_parts,
)


def entity(kind: str, offset: int, length: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **more}


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        ("a &lt;b&gt; &amp;&quot; &#65;&#x42;", 'a <b> &" AB', []),
        ("R&D &copy;", "R&D &copy;", []),
        ("<b>x</b>", "x", [entity("bold", 0, 1)]),
        ("😀<B>x</B>", "😀x", [entity("bold", 2, 1)]),
        ("<b>a<i>b</i></b>", "ab", [entity("bold", 0, 2), entity("italic", 1, 1)]),
        (
            '<pre><code class="language-json">{}</code></pre>',
            "{}",
            [entity("pre", 0, 2, language="json")],
        ),
        ("<blockquote expandable>q</blockquote>", "q", [entity("expandable_blockquote", 0, 1)]),
        ("<tg-spoiler>s</tg-spoiler>", "s", [entity("spoiler", 0, 1)]),
        (
            '<a href="https://x.test/?a=1&amp;b=2">l</a>',
            "l",
            [entity("text_link", 0, 1, url="https://x.test/?a=1&b=2")],
        ),
        ("<b></b>x", "x", []),
    ],
)
def test_telegrams_html_is_read(source: str, text: str, entities: list[dict[str, Any]]) -> None:
    assert parse_html(source) == (text, entities)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("é<div>x</div>", 'Unsupported start tag "div" at byte offset 2'),
        ("1 < 2", 'Unsupported start tag "" at byte offset 2'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'),
        ("<b", "Unclosed start tag at byte offset 0"),
        ("<b>x</b", "Unclosed end tag at byte offset 4"),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler"'),
    ],
)
def test_broken_html_is_refused_in_telegrams_words(source: str, problem: str) -> None:
    with pytest.raises(EntityError) as caught:
        parse_html(source)

    assert problem in str(caught.value)


def test_length_counts_utf16_units() -> None:
    assert utf16("a😀é") == 4


@pytest.mark.parametrize(
    "bad",
    [
        entity("code", 1, 1),
        entity("code", 0, 1),
        entity("code", 2, 9),
        entity("code", -1, 2),
        entity("code", 0, 0),
        entity("wobbly", 0, 2),
    ],
)
def test_an_entity_that_does_not_fit_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(EntityError):
        checked_entities("😀ab", [bad])


def test_white_space_at_the_ends_goes_and_entities_move_along() -> None:
    assert trimmed(" \n ab ", [entity("code", 0, 5)]) == ("ab", [entity("code", 0, 2)])


def test_mentions_and_links_outside_code_are_live() -> None:
    text = "@mallory https://evil.test @mallory"

    found = with_live_parts(text, [entity("code", 0, 8)])

    assert [(e["type"], e["offset"]) for e in found] == [("code", 0), ("url", 9), ("mention", 27)]
