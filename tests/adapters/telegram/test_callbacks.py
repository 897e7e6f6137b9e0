"""Updates as presses: what each kind says, and that nothing at all can make reading fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.chats.places import MessageRef, Place, Press
from sayso.platforms.conversation import Reply
from sayso_telegram.parse_update import BotRemoved, IgnoredUpdate, MigratedChat, parse_update

HANDLE = "HANDLEHANDLEHANDLE1234"
FIXTURES = Path(__file__).parent / "fixtures"
NAMES = sorted(str(path.relative_to(FIXTURES)) for path in FIXTURES.rglob("*.json"))
Payload = Callable[[str], Any]


def place(chat_id: int, thread: str = "") -> Place:
    return Place("telegram", str(chat_id), thread)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("callback_query_group_minimal", IgnoredUpdate("not_our_button", "4382bfdwdsb323b2d9")),
        (
            "callback_query_inaccessible_message",
            IgnoredUpdate("not_our_button", "4382bfdwdsb323b2d9"),
        ),
        ("callback_query_inline_message", IgnoredUpdate("not_our_button", "id")),
        ("callback_query_private", IgnoredUpdate("not_our_button", "1115664380233733737")),
        ("edited_message_private", IgnoredUpdate("not_a_press")),
        ("message_anonymous_admin_service", IgnoredUpdate("not_a_press")),
        ("message_anonymous_admin_text", IgnoredUpdate("not_a_press")),
        ("message_forum_topic_reply", IgnoredUpdate("not_a_press")),
        ("message_group_migrate_to", MigratedChat(place(-599075523), place(-1001555296434))),
        ("message_private_text", IgnoredUpdate("not_a_press")),
        ("message_reaction_anonymous", IgnoredUpdate("not_a_press")),
        ("message_reaction_user", IgnoredUpdate("not_a_press")),
        (
            "message_reply_to_force_reply_private",
            Reply(
                MessageRef(place(1111111), "77"), "76", "telegram:1111111", "it touches production"
            ),
        ),
        (
            "message_supergroup_migrate_from_anonymous",
            MigratedChat(place(-599075523), place(-1001555296434)),
        ),
        ("message_supergroup_reply_in_reply_thread", IgnoredUpdate("not_a_press")),
        ("my_chat_member_blocked", BotRemoved(place(0))),
        ("unknown_update_kind", IgnoredUpdate("not_a_press")),
        (
            "negative/official_sample_without_is_bot",
            IgnoredUpdate("no_person", "4382bfdwdsb323b2d9"),
        ),
    ],
)
def test_every_fixture_is_read_as(payload: Payload, name: str, expected: object) -> None:
    assert parse_update(payload(name)) == expected


def test_the_table_above_has_every_fixture() -> None:
    (mark,) = (
        mark
        for mark in test_every_fixture_is_read_as.pytestmark  # type: ignore[attr-defined]
        if mark.name == "parametrize"
    )

    assert sorted(f"{name}.json" for name, _ in mark.args[1]) == NAMES


@pytest.mark.parametrize("odd", [{"sticker": {"x": 1}}, {"entities": [5]}, {"via_bot": []}])
def test_no_press_is_lost_to_an_odd_field_of_its_message(
    press_update: Callable[..., Any], odd: dict[str, Any]
) -> None:
    update = press_update()
    expected = parse_update(update)
    update["callback_query"]["message"] |= odd

    assert isinstance(expected, Press)
    assert parse_update(update) == expected


@pytest.mark.parametrize(
    "update",
    [
        {"message": {"message_id": 1, "date": 1, "text": "/pending"}},
        {"callback_query": {"id": "1", "from": {"id": 5}, "message": {"message_id": 1, "date": 1}}},
        {"my_chat_member": {"from": {"id": 5}, "date": 1, "new_chat_member": {"status": "left"}}},
        {"my_chat_member": {"from": {"id": 5}, "date": 1, "chat": {"id": 7, "type": "group"}}},
    ],
)
def test_an_update_without_what_telegram_always_sends_is_ignored(update: dict[str, Any]) -> None:
    assert isinstance(parse_update({"update_id": 1, **update}), IgnoredUpdate)


def test_a_press_in_a_group(press_update: Callable[..., Any]) -> None:
    assert parse_update(press_update()) == Press(
        handle=HANDLE,
        choice="allow",
        actor="telegram:12345",
        message=MessageRef(place(-1001234567890), "100"),
        ticket="4382bfdwdsb323b2d9",
    )


@pytest.mark.parametrize(
    ("data", "choice", "confirmed"),
    [
        (f"p1:{HANDLE}:always", "always", False),
        (f"p1:{HANDLE}:!always", "always", True),
        (f"p1:{HANDLE}:back", "back", False),
        (f"p1:{HANDLE}:show", "show", False),
    ],
)
def test_the_second_step_is_part_of_the_button(
    press_update: Callable[..., Any], data: str, choice: str, confirmed: bool
) -> None:
    press = parse_update(press_update(data))

    assert isinstance(press, Press)
    assert (press.choice, press.confirmed) == (choice, confirmed)


@pytest.mark.parametrize("name", ["callback_query_private", "callback_query_inaccessible_message"])
def test_a_press_on_a_message_that_is_no_longer_accessible_counts(
    payload: Payload, name: str
) -> None:
    update = payload(name)
    update["callback_query"]["data"] = f"p1:{HANDLE}:deny"
    shown = update["callback_query"]["message"]

    press = parse_update(update)

    assert isinstance(press, Press)
    assert press.message == MessageRef(place(shown["chat"]["id"]), str(shown["message_id"]))


@pytest.mark.parametrize(
    ("extra", "thread"),
    [
        ({"message_thread_id": 17, "is_topic_message": True}, "17"),
        ({"message_thread_id": 17}, ""),
        ({"message_thread_id": 17, "is_topic_message": False}, ""),
        ({"is_topic_message": True}, ""),
    ],
)
def test_a_thread_is_a_topic_only_where_telegram_says_so(
    press_update: Callable[..., Any], extra: dict[str, Any], thread: str
) -> None:
    update = press_update()
    update["callback_query"]["message"] |= extra

    press = parse_update(update)

    assert isinstance(press, Press)
    assert press.message.place == place(-1001234567890, thread)


BOT = {"id": 1087968824, "is_bot": True, "first_name": "Group"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"from": BOT}, "no_person"),
        ({"from": {"id": 5, "first_name": "x"}}, "no_person"),
        ({"from": {"id": 5, "is_bot": None}}, "no_person"),
        ({"from": {"id": True, "is_bot": False}}, "no_person"),
        ({"from": {"id": "5", "is_bot": False}}, "no_person"),
        ({"from": {"id": 5.0, "is_bot": False}}, "no_person"),
        ({"from": {"id": -5, "is_bot": False}}, "no_person"),
        ({"from": {"id": 2**60, "is_bot": False}}, "no_person"),
        ({"from": None}, "no_person"),
        ({"data": None}, "not_our_button"),
        ({"data": ["p1"]}, "not_our_button"),
        ({"message": None, "inline_message_id": "x"}, "no_message"),
        ({"message": {"message_id": 1}}, "no_message"),
        ({"message": {"message_id": 0, "chat": {"id": 1}}}, "no_message"),
        ({"message": {"message_id": 1, "chat": {"id": 0}}}, "no_message"),
        ({"message": {"message_id": "1", "chat": {"id": 1}}}, "no_message"),
    ],
)
def test_a_press_that_cannot_be_attributed_is_refused_and_still_answered(
    press_update: Callable[..., Any], changes: dict[str, Any], reason: str
) -> None:
    assert parse_update(press_update(**changes)) == IgnoredUpdate(reason, "4382bfdwdsb323b2d9")


@pytest.mark.parametrize("query_id", [None, "", 7, "x" * 300])
def test_a_query_without_an_id_is_unreadable(
    press_update: Callable[..., Any], query_id: object
) -> None:
    assert parse_update(press_update(id=query_id)) == IgnoredUpdate("unreadable")


def test_a_callback_query_is_never_taken_for_something_else(press_update: Any) -> None:
    update = press_update(data="foreign")
    update["message"] = {"chat": {"id": -5}, "migrate_to_chat_id": -1005}

    assert parse_update(update) == IgnoredUpdate("not_our_button", "4382bfdwdsb323b2d9")


@pytest.mark.parametrize("status", ["member", "administrator", "restricted", 5, None])
def test_a_bot_that_is_still_there_is_not_barred(payload: Payload, status: object) -> None:
    update = payload("my_chat_member_blocked")
    update["my_chat_member"]["new_chat_member"]["status"] = status

    assert parse_update(update) == IgnoredUpdate("not_a_press")


def test_neither_the_query_nor_its_id_is_in_a_repr(press_update: Callable[..., Any]) -> None:
    assert "4382bfdwdsb323b2d9" not in repr(parse_update(press_update()))
    assert "4382bfdwdsb323b2d9" not in repr(parse_update(press_update(data="x")))


KEYS = st.sampled_from(
    [
        *("update_id", "callback_query", "message", "my_chat_member", "id", "from", "is_bot"),
        *("data", "chat", "message_id", "message_thread_id", "is_topic_message"),
        *("migrate_to_chat_id", "migrate_from_chat_id", "new_chat_member", "status"),
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([f"p1:{HANDLE}:allow", "kicked"])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=8),
    max_leaves=25,
)


@given(JSON)
def test_reading_never_raises_whatever_the_json(update: Any) -> None:
    assert isinstance(parse_update(update), Press | MigratedChat | BotRemoved | IgnoredUpdate)


QUERY = st.fixed_dictionaries(
    {
        "id": st.just("q") | LEAVES,
        "from": st.fixed_dictionaries({"id": st.integers(), "is_bot": st.booleans()}) | JSON,
        "message": st.fixed_dictionaries(
            {"message_id": st.integers() | LEAVES, "chat": st.just({"id": -1001}) | JSON},
            optional={"message_thread_id": LEAVES, "is_topic_message": LEAVES},
        )
        | JSON,
        "data": st.just(f"p1:{HANDLE}:!always") | LEAVES,
    }
)


@given(QUERY)
def test_only_a_person_on_a_message_with_our_button_presses(query: Any) -> None:
    found = parse_update({"update_id": 1, "callback_query": query})

    if isinstance(found, Press):
        assert query["from"]["is_bot"] is False
        assert found.actor == f"telegram:{query['from']['id']}"
        assert found.message.place.address == str(query["message"]["chat"]["id"])
        assert found.handle == HANDLE
