"""The harness for people's own tests: the same every time, without network and clock."""

from __future__ import annotations

import doctest
import subprocess
import sys
from datetime import timedelta

import pytest

from sayso import Gate, Outcome, Rule, RulePolicy, RunRef, ToolCall
from sayso.testing import Prompt, Stage, harness, play

LIST, DEPLOY = ToolCall("list"), ToolCall("deploy", {"target": "staging"})


def test_the_example_in_its_documentation_is_true() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "doctest", str(harness.__file__)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert sum(len(found.examples) for found in doctest.DocTestFinder().find(harness)) > 5


async def test_scripted_calls_go_in_and_prompts_and_verdicts_come_out() -> None:
    stage = await play(
        [LIST, DEPLOY], policy=RulePolicy(allow=[Rule("list")]), answers={"deploy": "deny"}
    )

    assert [prompt.tool for prompt in stage.prompts] == ["deploy"]
    assert stage.prompts[0].arguments == {"target": "staging"}
    assert stage.prompts[0].text == "staging"
    assert {"allow", "always", "deny"} <= set(stage.prompts[0].choices)
    assert [verdict.outcome for verdict in stage.verdicts] == [Outcome.APPROVED, Outcome.DENIED]
    assert str(stage) == "list: approved (allow rule 1)\ndeploy: denied (person)"


async def test_the_same_script_plays_the_same_every_time() -> None:
    played = [await play([LIST, [DEPLOY, LIST]], answers=lambda _: "allow") for _ in range(3)]

    assert played[0].prompts == played[1].prompts == played[2].prompts
    assert {str(stage) for stage in played} == {str(played[0])}
    times = {verdict.decided_at for stage in played for verdict in stage.verdicts}
    assert len(times) == 1


async def test_answers_may_be_a_function_of_the_prompt() -> None:
    def careful(prompt: Prompt) -> str:
        return "deny" if prompt.arguments.get("target") == "production" else "allow"

    production = ToolCall("deploy", {"target": "production"})
    stage = await play([DEPLOY, production], answers=careful)

    assert [verdict.approved for verdict in stage.verdicts] == [True, False]


async def test_always_is_remembered_as_a_person_in_a_chat_would_have_it() -> None:
    stage = await play([DEPLOY, DEPLOY], answers={"deploy": ["always"]})

    assert [verdict.line for verdict in stage.verdicts] == ["person", "remembered always allow"]


async def test_what_is_remembered_ends_when_the_clock_is_moved() -> None:
    async with Stage(answers={"deploy": ["always", "deny"]}) as stage:
        await stage.gate.check(DEPLOY)
        stage.clock.advance(timedelta(hours=25))
        verdict = await stage.gate.check(DEPLOY)

    assert not verdict.approved


async def test_nobody_answering_takes_no_time_and_ends_only_that_question() -> None:
    stage = await play([[DEPLOY, LIST]], answers={"deploy": None, "list": "allow"})

    assert [verdict.outcome for verdict in stage.verdicts] == [Outcome.EXPIRED, Outcome.APPROVED]


async def test_a_prompt_that_the_script_does_not_know_fails_the_test() -> None:
    with pytest.raises(AssertionError, match=r"no answer for deploy \{'target': 'staging'"):
        await play([DEPLOY, DEPLOY], answers={"deploy": ["allow"]})


async def test_an_answer_that_the_card_does_not_have_fails_the_test() -> None:
    with pytest.raises(ValueError, match="no choice 'yes'; it has allow"):
        await play([DEPLOY], answers={"deploy": "yes"})


async def test_a_script_that_fails_does_not_hide_the_failure_of_the_test() -> None:
    async def agent(gate: Gate) -> None:
        await gate.check(DEPLOY)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        async with Stage() as stage:
            await agent(stage.gate)

    assert "no answer for deploy" in caught.value.__notes__[0]


async def test_an_agent_is_played_with_the_gate_it_takes() -> None:
    async def agent(gate: Gate) -> str:
        @gate.guard
        async def deploy(target: str) -> str:
            return f"deployed {target}"

        return await deploy("staging")

    run = RunRef("my-bot", "s-1")
    async with Stage(answers={"deploy": "allow"}, run=run, by="slack:U0ALICE") as stage:
        said = await agent(stage.gate)

    assert said == "deployed staging"
    assert stage.prompts[0].asker == "my-bot"
    assert stage.verdicts[0].decided_by == "slack:U0ALICE"


async def test_the_verdicts_of_sub_agents_are_recorded_too() -> None:
    async with Stage(answers={"deploy": "allow"}) as stage:
        await stage.gate.child("researcher").check(DEPLOY)

    assert len(stage.verdicts) == 1


# An audit hook cannot be taken away again: it needs an interpreter of its own.
_WATCHED = """
import asyncio, sys
from sayso import ToolCall
from sayso.testing import play

def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        print("the network was used:", event)

sys.addaudithook(watch)
if "{probe}":
    import socket
    socket.getaddrinfo("127.0.0.1", 9)
played = asyncio.run(play([ToolCall("deploy")], answers={{"deploy": "allow"}}))
print(played.verdicts[0].approved)
"""


@pytest.mark.parametrize(
    ("probe", "printed"),
    [("", "True\n"), ("look", "the network was used: socket.getaddrinfo\nTrue\n")],
)
def test_a_play_uses_no_network_and_would_be_seen_using_it(probe: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED.format(probe=probe)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, printed), done.stderr
