"""What Always can store: exactly what is shown, from narrow to wide, on the settings' terms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sayso.always.offers import Offer, offers
from sayso.always.terms import GrantOptions, span
from sayso.always.widths import derive
from sayso.calls import RunRef, ToolCall
from sayso.cards.card import Card, Choice, Ended, Open
from sayso.digests import arguments_digest, short_digest
from sayso.errors import ConfigError
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.wire import decode, encode
from sayso.rules.rule import Rule, Scope, literal_rule
from sayso.testing import a_request

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "git status"})
WIDER = (Rule("bash", {"command": "git *"}), Rule("bash"))


def offered(*wider: Rule, call: ToolCall = CALL, run: RunRef = RUN) -> dict[str, Offer]:
    suggested = (literal_rule(call), *wider)
    found = offers(call, arguments_digest(call.arguments), suggested, run)
    return {offer.choice.key: offer for offer in found}


def a_permission(*wider: Rule) -> PermissionRequestEvent:
    request = a_request(tool="bash", arguments=dict(CALL.arguments), run=RUN)
    return request.model_copy(update={"suggested_rules": (*request.suggested_rules, *wider)})


def test_widths_go_from_narrow_to_wide() -> None:
    found = offered(*WIDER)

    assert list(found) == ["always", "always-2", "window", "agent", "deny-always"]
    assert [found[key].rule for key in ("always-2", "window")] == [*WIDER]
    assert found["agent"].rule == found["deny-always"].rule == found["always"].rule
    assert found["deny-always"].effect == "deny"


@pytest.mark.parametrize(
    ("key", "stores"),
    [
        (
            "always",
            (
                'bash with exactly these arguments: command is "git status" (digest {digest}) '
                "in session s-1"
            ),
        ),
        (
            "always-2",
            'bash with command matching "git *" and any other arguments in session s-1',
        ),
        (
            "agent",
            (
                'bash with exactly these arguments: command is "git status" (digest {digest}) '
                "in all sessions of agent deploy-bot"
            ),
        ),
        ("window", "bash with any arguments in session s-1"),
        (
            "deny-always",
            (
                'never bash with exactly these arguments: command is "git status" '
                "(digest {digest}) in session s-1"
            ),
        ),
    ],
)
def test_each_choice_says_exactly_what_it_stores(key: str, stores: str) -> None:
    digest = short_digest(arguments_digest(CALL.arguments))

    assert offered(*WIDER)[key].choice.stores == stores.format(digest=digest)


def test_dangers_of_a_pattern_stand_where_it_is_offered() -> None:
    found = offered(*WIDER)

    assert "also allows another one after it" in found["always-2"].choice.warning
    assert "every call of this tool" in found["window"].choice.warning
    assert found["always"].choice.warning == found["deny-always"].choice.warning == ""


@pytest.mark.parametrize(
    "strange",
    [
        Rule("rm"),
        Rule("bash", {"command": "ls"}),
        Rule("bash", {"command": "git *"}, "0" * 64),
        Rule("bash", {"command": "{git status," + "x" * 1_000 + "}"}),
    ],
)
def test_a_rule_for_another_call_or_too_long_to_be_shown_is_not_offered(strange: Rule) -> None:
    assert "always-2" not in offered(strange)


def test_a_rule_with_a_secret_in_it_is_not_offered() -> None:
    secret = "xoxb" + "-12345678-abcdefgh"
    call = ToolCall("bash", {"command": f"login {secret} now"})

    assert "always-2" not in offered(Rule("bash", {"command": f"login {secret} *"}), call=call)


def test_a_wide_rule_in_the_place_of_the_narrow_one_is_never_behind_always() -> None:
    found = offers(CALL, arguments_digest(CALL.arguments), (Rule("bash"),), RUN)

    assert [offer.choice.key for offer in found] == ["window", "deny-always"]
    assert found[1].choice.stores == "never bash with any arguments in session s-1"


def test_a_pattern_cannot_pretend_to_end() -> None:
    call = ToolCall("bash", {'x" in session y': "1"})

    stores = offered(Rule("bash", {'x" in session y': "1*"}), call=call)["always-2"].choice.stores

    assert stores.startswith('bash with "x\\" in session y" matching "1*" and any other arguments')


@pytest.mark.parametrize(
    ("session", "agent", "kept"),
    [
        (10, 10, ["always", "always-2", "window", "agent", "deny-always"]),
        (120, 10, ["always", "always-2", "window", "agent", "deny-always"]),
        (950, 10, ["window", "agent"]),
        (10, 950, ["always", "always-2", "window", "deny-always"]),
        (1_000, 1_000, []),
    ],
)
def test_what_is_stored_is_said_with_whole_names_or_is_not_offered(
    session: int, agent: int, kept: list[str]
) -> None:
    found = offered(*WIDER, run=RunRef("a" * agent, "s" * session))

    assert list(found) == kept
    for offer in found.values():
        assert ("s" * session if offer.choice.scope != "agent" else "a" * agent) in (
            offer.choice.stores
        )
        assert len(offer.choice.stores) <= 1_000
        assert len(offer.choice.label) <= 30
        assert "…" not in offer.choice.stores


def test_a_name_cannot_pass_for_other_words() -> None:
    run = RunRef("bot", "s-1, for 1 minute")

    always = offered(run=run)["always"].choice.stores

    assert always.endswith(' in session "s-1, for 1 minute"')
    strange = ToolCall("a\u202eb", {"x y": "\n"})
    assert offered(call=strange)["always"].choice.stores.startswith(
        '"a⟨U+202E⟩b" with exactly these arguments: "x y" is "\\n" (digest'
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "none at all"),
        ({"b": 1, "a": "1"}, 'a is "1" and b is 1'),
        ({"a": None, "b": [1, "1,2", True]}, 'a is null and b is [1, "1,2", true]'),
        ({"a": {"b": "*"}}, 'a is {"b": "*"}'),
        ({"password": "hunter2"}, 'password is "[redacted: 7 characters]"'),
        ({"text": "x" * 2_000}, "all of them as this card shows them"),
        ({"a": {"deep": "x" * 2_000}}, "all of them as this card shows them"),
    ],
)
def test_the_literal_rule_names_every_value_or_says_where_all_of_them_stand(
    arguments: dict[str, Any], words: str
) -> None:
    call = ToolCall("bash", arguments)

    found = offered(call=call)

    digest = f"(digest {short_digest(arguments_digest(arguments))})"
    assert found["always"].choice.stores == (
        f"bash with exactly these arguments: {words} {digest} in session s-1"
    )
    assert found["always"].choice.needs_sight


def test_a_place_without_room_for_every_value_can_say_as_exactly_where_they_stand() -> None:
    arguments = {"text": "x" * 200}
    always = offered(call=ToolCall("bash", arguments))["always"].choice

    digest = f"(digest {short_digest(arguments_digest(arguments))}) in session s-1"
    assert always.stores == f'bash with exactly these arguments: text is "{"x" * 200}" {digest}'
    assert always.stores_briefly == (
        f"bash with exactly these arguments: all of them as this card shows them {digest}"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"command": "ls -la"}, "no other arguments"),
        ({"command": "ls -la", "cwd": "/srv"}, "the others as this card shows them (digest {})"),
    ],
)
def test_this_program_says_its_pattern_and_what_becomes_of_the_others(
    arguments: dict[str, Any], words: str
) -> None:
    call = ToolCall("terminal", arguments)
    others = {name: value for name, value in arguments.items() if name != "command"}

    found = offered(*derive(call)[1:], call=call, run=RunRef("bot", "5f0c" * 9))["always-2"]

    assert found.choice.label == "Always: ls"
    assert found.choice.warning == ""
    assert found.choice.stores == (
        'terminal with command matching "ls?( +([a-zA-Z0-9 _./:=@+-]))" '
        "(only ls, alone or with plain words) and "
        f"{words.format(short_digest(arguments_digest(others)))} in session {'5f0c' * 9}"
    )


@pytest.mark.parametrize(
    ("params", "label"),
    [
        ({"path": "*", "m": "b"}, "Always: by m and path"),
        ({"path": "*", "the mode": "b"}, 'Always: by path and "the mode"'),
        ({"path": "*", "m": "b", "target_environment": "p"}, "Always: by m and path and tar…"),
        ({"path": "a*"}, "Always: a*"),
    ],
)
def test_the_label_of_a_rule_for_several_parameters_names_them(
    params: dict[str, str], label: str
) -> None:
    values = {name: pattern.replace("*", "") or "x" for name, pattern in params.items()}

    choice = offered(Rule("edit", params), call=ToolCall("edit", values))["always-2"].choice

    assert choice.label == label
    assert all(f'matching "{pattern}"' in choice.stores for pattern in params.values())


def test_a_program_that_shows_files_says_so() -> None:
    call = ToolCall("bash", {"command": "cat README.md"})

    assert "every file" in offered(*derive(call)[1:], call=call)["always-2"].choice.warning


@pytest.mark.parametrize("pattern", ["**", "*", "!x", "?(x)**"])
def test_a_rule_for_nearly_everything_is_the_whole_tool(pattern: str) -> None:
    found = offered(Rule("bash", {"command": pattern}), Rule("bash", {"command": "git *"}))

    by_scope = {key: offer.choice.scope for key, offer in found.items()}
    assert "always-3" not in by_scope
    assert found["always-2"].rule == Rule("bash", {"command": "git *"})
    assert by_scope["window"] == "tool-window"


@pytest.mark.parametrize(
    "suggested",
    [
        (Rule("bash"),),
        (Rule("bash", {"command": "**"}),),
        derive(CALL),
        derive(CALL, declared=lambda _: Rule("bash")),
        (literal_rule(CALL), Rule("bash"), *WIDER),
    ],
)
def test_the_whole_tool_is_only_ever_allowed_in_a_window(suggested: tuple[Rule, ...]) -> None:
    strangers = [ToolCall("bash", {"command": c}) for c in ("rm -rf /", "x", "")]
    found = offers(CALL, arguments_digest(CALL.arguments), suggested, RUN)

    [window] = [offer for offer in found if offer.choice.scope == "tool-window"]
    assert window.rule == Rule("bash")
    assert "any arguments" in window.choice.stores
    assert "every call of this tool in this session" in window.choice.warning
    for offer in found:
        if offer.effect == "allow" and offer is not window:
            assert not all(map(offer.rule.matches, strangers))


def test_the_answer_says_which_rule_was_stored_and_until_when() -> None:
    request = a_permission(*WIDER)
    for choice in (*request.card().choices, *request.card().more):
        if not choice.stores:
            continue
        timed = Choice(
            choice.key,
            choice.label,
            stores=choice.stores,
            scope=choice.scope,
            lasts=timedelta(hours=1),
        )
        until = NOW + timedelta(hours=1)

        response = request.answer(timed, by="x:1", at=NOW)
        rule = request.to_remember(timed, by="x:1", at=NOW, until=until)

        denies = choice.key == "deny-always"
        assert rule is not None
        assert (response.rule, response.rule_scope) == (rule.rule, rule.scope)
        assert response.rule_expires_at == rule.expires_at == until
        assert response.approved != denies
        assert response.choice == ("always_deny" if denies else "always_allow")
        assert rule.effect == ("deny" if denies else "allow")
        assert decode(encode(response)) == response
        assert request.stored(response) == choice.stores


def test_why_is_remembered_without_secrets() -> None:
    said = "log in with xoxb" + "-12345678-abcdefgh\nplease"
    request = a_permission().model_copy(update={"description": said})
    always = request.card().choices[1]

    rule = request.to_remember(always, by="x:1", at=NOW, until=NOW)

    assert rule is not None
    assert rule.reason == "log in with [redacted: 22 characters]⏎please"


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": timedelta(minutes=61)},
        {"window": timedelta(0)},
        {"remember_for": timedelta(0)},
        {"project_for": timedelta(0)},
    ],
)
def test_terms_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        GrantOptions(**wrong)


def test_a_window_never_outlasts_what_is_remembered() -> None:
    terms = GrantOptions(remember_for=timedelta(minutes=5), window=timedelta(minutes=15))

    scopes: tuple[Scope, ...] = ("tool-window", "session", "project")
    for scope in scopes:
        assert terms.lasts(Choice("k", "K", scope=scope)) == timedelta(minutes=5)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(hours=24), "1 day"),
        (timedelta(hours=36), "36 hours"),
        (timedelta(minutes=15), "15 minutes"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(seconds=90), "90 seconds"),
    ],
)
def test_spans_are_told_in_words(length: timedelta, words: str) -> None:
    assert span(length) == words


def test_the_choices_behind_more_need_sight_and_end_with_the_card() -> None:
    body = a_permission(*WIDER).card()
    card = Card("h", body, "bot", NOW, limit=2_000, reveal_limit=9_000)

    assert [choice.key for choice in card.choices] == ["allow", "always", "deny"]
    assert len([choice for choice in card.more if choice.stores]) == 4
    assert card.choice("deny-always") in card.more
    cut = Card("h", body, "bot", NOW, limit=3, reveal_limit=9_000)
    assert [choice.key for choice in cut.more] == ["deny-reason", "changes"]
    ended = Card("h", body, "bot", NOW, 2_000, 9_000, state=Ended("denied", NOW))
    assert ended.more == ()
    assert [choice.key for choice in ended.choices] == ["details"]
    assert Card("h", body, "bot", NOW, 2_000, 9_000, state=Open(more=True)).more == card.more
