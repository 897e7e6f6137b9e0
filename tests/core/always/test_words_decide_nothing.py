"""Dangers are values: whatever words are made of them, the same is offered and found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest

from sayso.always.offers import Offer, offers
from sayso.always.widths import derive
from sayso.always.words import ENGLISH as ALWAYS_ENGLISH
from sayso.always.words import AlwaysWords
from sayso.calls import RunRef, ToolCall
from sayso.cards.card import Choice
from sayso.digests import arguments_digest
from sayso.rules.glob_warnings import DangerKind, MissKind
from sayso.rules.lint import PatternMatches, PatternMisses, lint_rules
from sayso.rules.rule import Rule, literal_rule
from sayso.rules.words import ENGLISH as LINT_ENGLISH
from sayso.rules.words import GLOB_ENGLISH, GlobWords, LintWords, Shadow

RUN = RunRef("deploy-bot", "s-1")
CALLS = (
    ToolCall("bash", {"command": "git status"}),
    ToolCall("bash", {"command": "cat README.md", "cwd": "/srv"}),
    ToolCall("read", {"path": "src/main.py", "lines": 3}),
    ToolCall("now", {}),
)
PATTERNS = ("**", "*", "!x", "git *", "?(x)**", "src/**", "*.py", "{1..100}*", "[!r]*")

X_GLOBS = GlobWords(
    dangers=dict.fromkeys(DangerKind, "x"),
    misses=dict.fromkeys(MissKind, "x"),
    example="x",
    missing="x",
    last_of_several="x",
)
_XS: dict[str, Any] = {
    field.name: "x"
    for field in fields(AlwaysWords)
    if isinstance(getattr(ALWAYS_ENGLISH, field.name), str)
}
X_ALWAYS = replace(ALWAYS_ENGLISH, globs=X_GLOBS, **_XS)
X_LINT = LintWords(
    rules={"deny": "x", "allow": "x", "allow_once": "x"},
    tool_is_pattern="x",
    every_call="x",
    in_parameter="x",
    shadows=dict.fromkeys(Shadow, "x"),
    again="x",
    covered="x",
    globs=X_GLOBS,
)


def suggestions(call: ToolCall) -> Sequence[Sequence[Rule]]:
    wide = [Rule(call.name, {name: text}) for name in call.arguments for text in PATTERNS]
    literal = literal_rule(call)
    return [derive(call), (Rule(call.name),), *([literal, rule] for rule in wide), wide]


def facts(found: Sequence[Offer]) -> list[object]:
    """All of each offer but its words."""
    return [(offer.rule, offer.effect, offer.dangers, wordless(offer.choice)) for offer in found]


def wordless(choice: Choice) -> Choice:
    longer = tuple(wordless(one) for one in choice.longer)
    plain = replace(choice, longer=longer, label="x", stores="something", stores_briefly="")
    return replace(plain, place="", warning="")


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_the_same_is_offered_in_whatever_words(call: ToolCall) -> None:
    digest = arguments_digest(call.arguments)
    for suggested in suggestions(call):
        english = offers(call, digest, suggested, RUN)
        reworded = offers(call, digest, suggested, RUN, words=X_ALWAYS)

        assert facts(english) == facts(reworded)
        assert all(offer.choice.stores == "x" for offer in reworded)
        assert all(offer.choice.warning in ("", "x") for offer in reworded)
        # Nobody is warned less for it.
        assert [bool(offer.choice.warning) for offer in english] == [
            bool(offer.choice.warning) for offer in reworded
        ]


def test_a_finding_is_a_value_and_its_words_come_last() -> None:
    rules = [Rule("bash", {"command": pattern}) for pattern in PATTERNS]

    found = lint_rules([*rules, Rule("ba*"), rules[0]], rules, rules)

    assert {finding.said(X_LINT) for finding in found} == {"x"}
    assert all(str(finding) == finding.said() != "x" for finding in found)
    kinds = {
        name: {
            finding.danger.kind
            for finding in found
            if isinstance(finding, PatternMatches) and finding.rule.in_list == name
        }
        for name in ("deny", "allow")
    }
    assert kinds["allow"] - kinds["deny"] == {
        DangerKind.MATCHES_EVERYTHING,
        DangerKind.COMMAND_AFTER,
        DangerKind.COMMAND_BEFORE,
        DangerKind.LEAVES_FOLDER,
        DangerKind.OTHER_FOLDERS,
    }
    assert any(isinstance(finding, PatternMisses) for finding in found)


def test_every_kind_has_its_own_words() -> None:
    assert set(GLOB_ENGLISH.dangers) == set(DangerKind)
    assert set(GLOB_ENGLISH.misses) == set(MissKind)
    assert set(LINT_ENGLISH.shadows) == set(Shadow)
    assert len(set(GLOB_ENGLISH.dangers.values())) == len(DangerKind)
    assert ALWAYS_ENGLISH.globs is LINT_ENGLISH.globs is GLOB_ENGLISH
