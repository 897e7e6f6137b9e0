"""What Claude Code would remember is offered with Always where a rule of ours says the same."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import ToolCall
from sayso_bots.hook.asking import suggested

BASH = ToolCall("Bash", {"command": "npm test -- a*b", "description": "tests"})
EDIT = ToolCall("Edit", {"file_path": "/home/me/shop/a.py", "old_string": "a"})


def _said(tool: str, content: Any, behavior: str = "allow") -> dict[str, Any]:
    rule = {"toolName": tool, "ruleContent": content}
    return {
        "type": "addRules",
        "rules": [rule],
        "behavior": behavior,
        "destination": "localSettings",
    }


def test_a_whole_command_is_offered_whatever_stands_beside_it() -> None:
    call = ToolCall("Bash", {"command": "npm test", "description": "tests"})

    (rule,) = suggested(call, [_said("Bash", "npm test")])

    assert rule.matches(ToolCall("Bash", {"command": "npm test", "description": "others"}))
    assert not rule.matches(ToolCall("Bash", {"command": "npm test; rm -rf ."}))


def test_a_folder_is_offered_and_what_leads_out_of_it_is_not_in_it() -> None:
    (rule,) = suggested(EDIT, [_said("Edit", "//home/me/shop/**")])

    assert rule.matches(EDIT)
    for path in ("/home/me/shop/../.ssh/id", "/home/me/other/a.py", "/home/me/shopping"):
        assert not rule.matches(ToolCall("Edit", {"file_path": path}))


@pytest.mark.parametrize(
    ("call", "suggestion"),
    [
        (BASH, _said("Bash", "npm test:*")),
        (BASH, _said("Bash", "npm test -- a*b")),
        (BASH, _said("Bash", "npm run")),
        (BASH, _said("Bash", None)),
        (BASH, _said("Edit", "//home/me/shop/**")),
        (EDIT, _said("Edit", "//home/me/shop/**", "deny")),
        (EDIT, _said("Edit", "src/**")),
        (EDIT, _said("Edit", "//**")),
        (EDIT, {"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
        (EDIT, {"type": "addRules", "rules": "all", "behavior": "allow"}),
        (EDIT, "everything"),
        (EDIT, None),
    ],
    ids=range(12),
)
def test_what_no_rule_of_ours_can_say_safely_is_not_offered(
    call: ToolCall, suggestion: Any
) -> None:
    assert suggested(call, [suggestion]) == ()


def test_no_more_are_offered_than_a_card_takes() -> None:
    folders = ("//home/**", "//home/me/**", "//home/me/shop/**")

    assert len(suggested(EDIT, [_said("Edit", folder) for folder in folders])) == 2
