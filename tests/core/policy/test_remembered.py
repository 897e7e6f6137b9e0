"""Remembered rules are compared with a call at the cost of one, however many there are."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from types import FrameType

from sayso.calls import RunRef, ToolCall
from sayso.policy.decision import PolicyContext
from sayso.policy.rule_policy import Remembered
from sayso.rules.rule import Rule
from sayso.testing import a_rule

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls", "cwd": "/"})


def test_the_arguments_are_written_out_once_for_a_hundred_rules() -> None:
    rules = [Rule("bash", arguments_digest=f"{number:064x}") for number in range(50)]
    rules += [Rule("bash", {"command": "ls"}, others_digest=f"{n:064x}") for n in range(50)]
    remembered = tuple(replace(a_rule(effect="deny"), rule=rule) for rule in rules)
    called: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_globals.get("__name__") == "sayso.digests":
            called[frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = Remembered().denial(CALL, PolicyContext(RUN, remembered))
    finally:
        sys.setprofile(before)

    assert found is None
    assert called["_written"] == 2  # all of the arguments, and those beside the command
