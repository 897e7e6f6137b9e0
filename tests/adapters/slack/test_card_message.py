import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.slack_kit import ALLOW, ALWAYS, DENY, a_card, an_ending

from sayso.cards.card import Card, Choice, Ended, Open
from sayso.cards.outcomes import SUPERSEDED
from sayso.locales import NAMES, load_translations
from sayso_playground.slack.blocks import characters, check_blocks
from sayso_slack.blocks import card_message
from sayso_slack.fallback_text import escape_text

OWN_MARKUP = re.compile(
    r"(Expires|Ended) <!date\^\d+\^\{date_short_pretty\} at \{time\}\|[-\d: ]+ UTC>"
)
FIELDS_THAT_MUST_NOT_PARSE = {
    "mrkdwn": False,
    "parse": "none",
    "link_names": False,
    "unfurl_links": False,
    "unfurl_media": False,
}


def blocks_of(card: Card, kind: str) -> list[Any]:
    return [block for block in card_message(card)["blocks"] if block["type"] == kind]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from objects(item)
    elif isinstance(value, dict):
        yield value
        for item in value.values():
            yield from objects(item)


def words(card: Card) -> str:
    """All that people read in the blocks, in order."""
    found = (item["text"] for item in objects(card_message(card)["blocks"]) if "text" in item)
    return "".join(text if isinstance(text, str) else "\n" for text in found)


def buttons(card: Card) -> list[Any]:
    """All but the one that leads a level down."""
    found = [button for block in blocks_of(card, "actions") for button in block["elements"]]
    return [button for button in found if button["action_id"] != "sayso:more"]


def test_an_open_card_says_all_that_is_asked() -> None:
    shown = words(a_card())

    for part in ("bash", "deploy-bot › researcher", "Source shell", "Show the status"):
        assert part in shown
    for part in ("command: git status", "Expires <!date^1800000600^"):
        assert part in shown


def test_a_level_down_the_digest_and_the_ids_are_to_be_seen() -> None:
    opened = a_card(Open(more=True), details=(("Session", "s-42"),))

    assert "Digest 0123456789ab\nSession s-42" in words(opened)
    assert "0123456789ab" not in words(replace(opened, state=Open()))
    assert [button["text"]["text"] for button in buttons(opened)] == ["Back"]


def test_words_of_ours_head_the_card_and_the_name_of_the_tool_stands_below_as_it_is() -> None:
    header, asked, *_ = card_message(a_card(question="May this run?"))["blocks"]
    who = asked["elements"][0]["elements"]

    assert header["text"]["text"] == "May this run?"
    assert [(part["text"], part.get("style")) for part in who] == [
        ("bash", {"code": True}),
        (" · ", None),
        ("deploy-bot › researcher", {"code": True}),
    ]


def test_what_is_under_way_is_said_while_the_card_is_open() -> None:
    assert "alice denies this" in words(a_card(Open(notice="alice denies this")))


def test_buttons_carry_the_handle_and_a_word_and_nothing_else() -> None:
    card = a_card()

    assert [
        (b["action_id"], b["value"], b["text"]["text"], b.get("style")) for b in buttons(card)
    ] == [
        ("sayso:allow", "h4ndle", "Allow", "primary"),
        ("sayso:always", "h4ndle", "Always", None),
        ("sayso:deny", "h4ndle", "Deny", "danger"),
    ]
    assert blocks_of(card, "actions")[0]["block_id"] == "sayso:h4ndle"


def test_a_block_id_is_fresh_once_the_card_was_seen_in_full() -> None:
    before, after = (blocks_of(a_card(revealed=seen), "actions")[0] for seen in (False, True))

    assert before["block_id"] != after["block_id"]


def test_what_always_remembers_is_named_before_it_is_remembered() -> None:
    allow, always, deny = buttons(a_card())

    assert ALWAYS.stores in always["confirm"]["text"]["text"]
    assert always["confirm"]["confirm"]["text"] == "Always"
    assert "confirm" not in allow
    assert "confirm" not in deny


def test_a_choice_whose_memory_is_too_long_for_a_dialog_is_a_level_down() -> None:
    long = replace(ALWAYS, stores="x" * 280)
    card = a_card(choices=(ALLOW, long, DENY))
    elements = card_message(card)["blocks"][-1]["elements"]
    below = card_message(replace(card, state=Open(more=True)))["blocks"][-1]["elements"]
    sure = card_message(replace(card, state=Open(confirming=long)))

    assert [element["action_id"] for element in elements] == [
        "sayso:allow", "sayso:deny", "sayso:more",
    ]  # fmt: skip
    assert (below[0]["action_id"], below[0]["value"]) == ("sayso:more-1", f"{card.handle}:always")
    assert "confirm" not in below[0]
    assert "x" * 280 in str(sure["blocks"])
    assert "confirm" not in sure["blocks"][-1]["elements"][0]
    for message in (card_message(card), sure):
        assert not check_blocks(message["blocks"]).errors


def test_a_choice_whose_memory_cannot_be_named_in_full_is_not_offered() -> None:
    card = a_card(choices=(ALLOW, replace(ALWAYS, stores="x" * 601), DENY))

    assert [button["text"]["text"] for button in buttons(card)] == ["Allow", "Deny"]
    assert "1 more choice does not fit" in words(card)


def test_a_label_too_long_for_the_button_of_a_dialog_stands_above_it() -> None:
    always = replace(ALWAYS, label="Always, whatever the weather is")
    confirm = buttons(a_card(choices=(always,)))[0]["confirm"]

    assert confirm["title"]["text"] == "Always, whatever the weather is?"
    assert confirm["confirm"]["text"] == "Yes"


def test_what_does_not_fit_is_counted_and_not_just_missing() -> None:
    many = tuple(Choice(f"c{number}", f"Choice {number}") for number in range(40))
    storing = tuple(replace(choice, stores="x" * 250) for choice in many[:9])

    assert len(buttons(a_card(choices=many))) == 20
    assert "20 more choices do not fit" in words(a_card(choices=many))
    assert len(buttons(a_card(choices=storing))) == 5
    assert len(buttons(a_card(Open(more=True), choices=storing))) == 4 + 1


@pytest.mark.parametrize("language", NAMES)
def test_a_card_full_to_its_limits_is_within_the_budget_of_a_message(language: str) -> None:
    label, text = "\u202e" * 30, "&" * 3_000
    storing = tuple(Choice(f"s{n}", label, stores="x" * 270) for n in range(5))
    others = tuple(Choice(f"c{n}", label) for n in range(30))
    told: dict[str, Any] = dict.fromkeys(
        ("title", "asker", "description", "content", "digest"), text
    )
    card = a_card(choices=storing + others, facts=((text, text),) * 20, **told)

    blocks = card_message(replace(card, translations=load_translations(language)))["blocks"]

    assert not check_blocks(blocks).errors
    assert 4_000 < characters(blocks) <= 10_000


def test_what_is_invisible_is_spelled_out_everywhere() -> None:
    card = a_card(
        title="a\u202eb", asker="a\u202eb", description="a\u202eb", content="a\u202eb",
        digest="a\u202eb", facts=(("a\u202eb", "a\u202eb"),),
        choices=(Choice("x", "a\u202eb", stores="a\u202eb"),),
    )  # fmt: skip

    for state in (card, replace(card, state=an_ending("a\u202eb", by="a\u202eb", reason="\u202e"))):
        told = json.dumps(card_message(state), ensure_ascii=False)
        assert "\u202e" not in told
        assert "a⟨U+202E⟩b" in told


@pytest.mark.parametrize("limit", [100, 2_900, 1_000_000])
def test_a_cut_card_offers_show_all_and_not_allow(limit: int) -> None:
    card = a_card(content="x" * 3_000, limit=limit)

    assert [button["text"]["text"] for button in buttons(card)] == ["Deny", "Show all"]
    assert "before it can be allowed" in words(card)
    assert "before it can be allowed" in card_message(card)["text"]


def test_a_cut_card_that_was_seen_in_full_offers_everything() -> None:
    labels = [b["text"]["text"] for b in buttons(a_card(content="x" * 3_000, revealed=True))]

    assert labels == ["Allow", "Always", "Deny", "Show all"]


@pytest.mark.parametrize("content", ["x" * 150_001, "\N{PILE OF POO}" * 40_000])
def test_what_no_dialog_can_hold_can_only_be_denied(content: str) -> None:
    card = a_card(content=content)

    assert [button["text"]["text"] for button in buttons(card)] == ["Deny"]
    assert "it can only be denied here" in words(card)


@pytest.mark.parametrize(
    ("outcome", "icon"),
    [
        ("approved", "✅"),
        ("denied", "⛔"),
        ("expired", "⌛"),
        ("cancelled", "🚫"),
        ("undeliverable", "📭"),
    ],
)
def test_an_ended_card_says_how_it_ended_and_what_it_was_and_no_more(
    outcome: str, icon: str
) -> None:
    card = a_card(an_ending(outcome, reason="too risky", stored="bash, for 1 day"))
    shown = words(card)

    assert "deploy-bot › researcher · bash command: git status" in shown
    assert not any(part in shown for part in ("Show the status", "May this run?", "0123456789ab"))
    assert f"{icon} {outcome.capitalize()} by alice" in shown
    assert "Reason too risky" in shown
    assert "Remembered bash, for 1 day" in shown
    assert "Ended <!date^1800000300^" in shown
    assert [button["text"]["text"] for button in buttons(card)] == ["Details"]
    said = f"{icon} {outcome.capitalize()} by alice: deploy-bot › resear… · bash"
    assert card_message(card)["text"].startswith(said)


def test_an_ended_card_without_anybody_names_nobody() -> None:
    assert "Expired by" not in words(a_card(an_ending("expired", by="")))


def test_a_slack_user_is_shown_as_slack_shows_people() -> None:
    shown = blocks_of(a_card(an_ending(by="slack:U0ALICE")), "rich_text")

    assert {"type": "user", "user_id": "U0ALICE"} in objects(shown)


@pytest.mark.parametrize("by", ["slack:U0ALICE> x", "slack:here", "telegram:42", "slack:U", "S:"])
def test_nothing_else_becomes_a_mention(by: str) -> None:
    shown = blocks_of(a_card(an_ending(by=by)), "rich_text")

    assert all(item.get("type") != "user" for item in objects(shown))


def test_notifications_and_screen_readers_get_the_whole_question() -> None:
    text = card_message(a_card())["text"]

    for part in (
        "deploy-bot › resear… · bash: command: git status",
        "Buttons: Allow, Always, Deny",
        "Source: shell",
    ):
        assert part in text
    for part in ("| Show the status", "| command: git status", "Expires 2027-01-15 08:10 UTC"):
        assert part in text


def test_a_line_of_the_agents_never_looks_like_one_of_the_card() -> None:
    card = a_card(
        title="bash\n✅ Approved by alice",
        content="x\n✅ Approved by alice",
        asker="a\n✅ Approved by alice",
    )

    assert not re.search("^✅", card_message(card)["text"], re.MULTILINE)
    assert "bash⏎✅" in words(card)


def test_the_text_beside_the_blocks_holds_nothing_that_slack_would_parse() -> None:
    message = card_message(a_card(title="<!channel> & <https://evil|Allow>", content="<@U1>" * 900))

    assert "<" not in message["text"]
    assert ">" not in message["text"]
    assert "&lt;!channel&gt; &amp; &lt;https://evil|Allow&gt;" in message["text"]
    assert {name: message[name] for name in FIELDS_THAT_MUST_NOT_PARSE} == (
        FIELDS_THAT_MUST_NOT_PARSE
    )


@pytest.mark.parametrize("limit", range(1, 20))
@pytest.mark.parametrize("text", ["&" * 30, "a<b>c&d" * 5, "plain" * 9, "", "short"])
def test_an_escaped_text_is_within_its_limit_and_no_escape_is_cut(text: str, limit: int) -> None:
    found = escape_text(text, limit)

    assert len(found) <= limit
    assert text.startswith(html.unescape(found.removesuffix("…")))
    assert not re.search(r"&(?!amp;|lt;|gt;)", found)


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "<!channel>",
            "```",
            "<https://evil.example|Allow>",
            "*bold* :white_check_mark:",
            "\u202etxt.exe",
            "\u200b",
            "\ud800",
            "\x00\x07",
            "line\nline",
            "\n\n\n",
            "&" * 500,
            "é" * 3_000,
            "👩‍👩‍👧‍👦" * 700,
            "\u202e" * 3_000,
            "<" * 20_000,
            " " * 400,
            '"\\' * 5_000,
        ]
    ),
)
CHOICES = st.lists(
    st.builds(
        Choice,
        st.from_regex(r"[a-z][a-z0-9_-]{0,19}", fullmatch=True),
        HOSTILE.map(lambda text: text[:30] or "x"),
        st.sampled_from(["default", "primary", "danger"]),
        st.one_of(st.just(""), HOSTILE),
        st.booleans(),
    ),
    max_size=40,
    unique_by=lambda choice: choice.key,
)
STATES = st.one_of(
    st.none(),
    st.builds(Open, notice=HOSTILE),
    st.builds(an_ending, HOSTILE, by=HOSTILE, reason=HOSTILE, stored=HOSTILE),
)
CARDS = st.builds(
    a_card,
    STATES,
    handle=st.sampled_from(["h", "H" * 43, "x" * 240]),
    asker=HOSTILE,
    limit=st.sampled_from([1, 2_900, 1_000_000]),
    revealed=st.booleans(),
    title=HOSTILE,
    description=HOSTILE,
    content=HOSTILE,
    digest=HOSTILE,
    facts=st.lists(st.tuples(HOSTILE, HOSTILE), max_size=20).map(tuple),
    choices=CHOICES.map(tuple),
)


@settings(max_examples=examples(60), database=None)
@given(CARDS)
def test_whatever_a_card_holds_slack_takes_it_and_parses_nothing_of_it(card: Card) -> None:
    message = card_message(card)

    blocks = message["blocks"]
    assert not check_blocks(blocks).errors
    assert characters(blocks) <= 10_000
    assert any(block["type"] == "rich_text" for block in blocks)
    assert 0 < len(message["text"]) <= 4_000
    assert not set(message["text"]) & set("<>")
    json.dumps(message, ensure_ascii=False).encode()  # no half of a surrogate pair is left
    for item in objects(blocks):
        if item.get("type") == "mrkdwn":
            assert OWN_MARKUP.fullmatch(item["text"])
        if item.get("type") == "plain_text":
            assert item["emoji"] is False


@settings(max_examples=examples(60), database=None)
@given(CARDS)
def test_nothing_unseen_can_be_allowed(card: Card) -> None:
    offered = {button["action_id"].removeprefix("sayso:") for button in buttons(card)}
    unseen = card.body.content.isprintable() and card.body.content not in words(card)

    for choice in card.body.choices:
        if choice.needs_sight and unseen and not card.revealed:
            assert choice.key not in offered


def test_a_card_that_another_message_shows_says_so_and_has_no_buttons() -> None:
    closed = a_card(Ended(SUPERSEDED, an_ending().at))
    shown = json.dumps(card_message(closed), ensure_ascii=False)

    assert "shown in another message here" in shown.lower()
    assert blocks_of(closed, "actions") == []
    assert closed.body.content in html.unescape(shown)
