"""The glossary of docs/compatibility.md leads from the words of others to names that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sayso
from sayso import events
from sayso.agent import responding
from sayso.agent.tools import wrap
from sayso.rules import rule

_PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"
_HOMES = (sayso, events, responding, wrap, rule)
_NAME = re.compile(r"`([A-Za-z]\w*(?:\.\w+)?)`")
# What readers of published systems look for.
_LOOKED_FOR = (
    "TryRespond",
    "resolveRelay",
    "allowlist",
    "ToolPermissionResult",
    "CreateApproval",
    "needs_approval",
    "can_use_tool",
    "PreToolUse",
    "auto-approve",
    "interrupt",
    "deferred tool",
    "updatedInput",
    "elicitation",
    "maxTurns",
    "permission mode",
    "always_approve",
)
_IN_THE_SETTINGS = {"approvers", "self_approval", "allow", "deny"}


def _rows() -> list[tuple[str, str]]:
    words = _PAGE.read_text().partition("\n## Words\n")[2]
    cells = [line.strip("|").split("|") for line in words.splitlines() if line.startswith("| ")]
    return [(there.strip(), here.strip()) for there, here in cells[1:]]


@pytest.mark.parametrize("word", _LOOKED_FOR)
def test_a_word_that_readers_look_for_is_in_the_glossary(word: str) -> None:
    assert any(word in there for there, _ in _rows())


def test_the_glossary_leads_to_names_that_exist() -> None:
    for _, here in _rows():
        names = [name for name in _NAME.findall(here) if name not in _IN_THE_SETTINGS]
        assert names or "`[[route]]`" in here, here
        for name in names:
            owner, _, attribute = name.partition(".")
            found = next(getattr(home, owner) for home in _HOMES if hasattr(home, owner))
            known = {*dir(found), *getattr(found, "__dataclass_fields__", ())}
            assert not attribute or attribute in known, name
