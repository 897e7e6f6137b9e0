"""The AI SDK, 6 and 7, with its own model doubles: a tool runs as it was allowed, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.api_world import World
from support.typescript import Project, Running, compiled
from support.typescript_calls import asked

from sayso.questions.permission import PermissionRequestEvent

pytestmark = pytest.mark.asyncio(loop_scope="module")

AGENTS = Path(__file__).parent / "agents"
AGENT = (AGENTS / "ai_agent.mjs").read_text()
CALL = {"command": "ls here"}
# What is tried through both of the client's functions; guard is the same code for each version.
DOORS = [("ai-6", "guard"), ("ai-7", "approval")]


@pytest.fixture(params=DOORS, ids=lambda door: "-".join(door))
def agent(request: pytest.FixtureRequest, projects: dict[str, Project]) -> Agent:
    version, door = request.param
    return Agent(projects[version], door)


class Agent:
    """An agent in its project, behind one door."""

    def __init__(self, project: Project, door: str) -> None:
        self.project = project
        self.door = door

    async def start(self, world: World, *calls: Any, url: str = "", **how: Any) -> Running:
        told = {"door": self.door, "calls": calls or [CALL], **how}
        there = replace(world, url=url or world.url)
        return await self.project.start(AGENT, there, {"HOW": json.dumps(told)})


def edited(arguments: str) -> dict[str, Any]:
    """An answer that changes the arguments."""
    return {"choiceKey": "edit", "inputs": {"arguments": arguments}, "approved": None}


def told_text(told: dict[str, Any]) -> str:
    """What the model reads of a call, however the version writes it."""
    return str(told.get("value") or told.get("reason") or "")


async def test_what_a_person_allows_runs(world: World, agent: Agent) -> None:
    node = await agent.start(world)
    await world.respond(await asked(world, "ls here"))

    said = await node.said()

    assert said["error"] is None
    assert said["ran"] == [CALL]
    assert [told_text(one) for one in said["told"]] == ["ran ls here"]


async def test_what_a_person_denies_does_not_run_and_the_model_reads_why(
    world: World, agent: Agent
) -> None:
    node = await agent.start(world)
    await world.respond(await asked(world, "ls here"), approved=False, reason="ask Carol")

    said = await node.said()

    assert said["ran"] == []
    assert "ask Carol. It did not run." in told_text(said["told"][0])


async def test_an_edit_runs_as_edited_or_not_at_all(world: World, agent: Agent) -> None:
    node = await agent.start(world)
    edit = edited('{"command": "ls there"}')
    await world.respond(await asked(world, "ls here"), **edit)

    said = await node.said()

    assert said["ran"] == ([] if agent.door == "approval" else [{"command": "ls there"}])
    assert '{"command":"ls there"}' in told_text(said["told"][0])


async def test_calls_of_one_step_are_asked_about_in_the_models_order(
    world: World, projects: dict[str, Project]
) -> None:
    commands = ["ls first", "ls second", "ls third"]
    calls = [{"command": command} for command in commands]
    node = await Agent(projects["ai-7"], "guard").start(world, *calls, late="ls first")
    for command in commands:
        await asked(world, command)
    pending = [
        request
        for one in await world.backend.store.list_requests()
        if isinstance(request := one.request, PermissionRequestEvent)
        and request.run.session_id == world.session_id
    ]
    for request in pending:
        await world.respond(request.question_id)

    assert [one["command"] for one in (await node.said())["ran"]] == commands
    assert [request.arguments["command"] for request in pending] == commands


async def test_an_edit_that_the_tool_does_not_take_runs_nothing(
    world: World, projects: dict[str, Project]
) -> None:
    node = await Agent(projects["ai-7"], "guard").start(world)
    edit = edited('{"command": "ls", "times": "many"}')
    await world.respond(await asked(world, "ls here"), **edit)

    said = await node.said()

    assert said["ran"] == []
    assert "they do not fit" in told_text(said["told"][0])


async def test_silence_runs_nothing(world: World, agent: Agent) -> None:
    said = await (await agent.start(world, timeout=0.5)).said()

    assert said["ran"] == []
    assert "nobody answered in time" in told_text(said["told"][0])


async def test_an_abort_withdraws_the_question_and_runs_nothing(world: World, agent: Agent) -> None:
    node = await agent.start(world, abort=True)
    request_id = await asked(world, "ls here")
    node.tell("stop")

    said = await node.said()

    assert said["ran"] == []
    shown = await world.call("GET", f"{world.branch}/requests/{request_id}?wait=10s")
    assert shown.json["response"]["type"] == "REQUEST_CANCELLED"


async def test_while_the_server_is_away_nothing_runs(world: World, agent: Agent) -> None:
    said = await (await agent.start(world, url="http://127.0.0.1:9", patience=0.2)).said()

    assert said["ran"] == []
    assert "could not be reached" in told_text(said["told"][0])


async def test_an_input_that_changes_after_it_was_approved_runs_nothing(
    world: World, agent: Agent
) -> None:
    node = await agent.start(world, meddle=True)
    await world.respond(await asked(world, "ls here"))

    said = await node.said()

    assert said["ran"] == []
    assert "changed after they were approved" in told_text(said["told"][0])


@pytest.mark.parametrize("version", ["ai-6", "ai-7"])
async def test_calls_of_one_step_share_a_card_and_each_has_its_answer(
    world: World, projects: dict[str, Project], version: str
) -> None:
    node = await Agent(projects[version], "guard").start(
        world, {"command": "ls one"}, {"command": "ls two"}
    )
    card = await world.card("ls one")
    assert "ls two" in card.all_text
    await world.respond(await asked(world, "ls two"), approved=False)
    await world.respond(await asked(world, "ls one"))

    assert (await node.said())["ran"] == [{"command": "ls one"}]


@pytest.mark.parametrize(
    ("version", "streams"), [("ai-6", "streaming"), ("ai-7", "plain"), ("ai-7", "spoken")]
)
async def test_tools_of_each_form_are_held_in_a_stream_too(
    world: World, projects: dict[str, Project], version: str, streams: str
) -> None:
    node = await Agent(projects[version], "guard").start(
        world, {"command": "ls yes"}, {"command": "ls no"}, streams=streams, schema="json"
    )
    await world.respond(await asked(world, "ls yes"))
    await world.respond(await asked(world, "ls no"), approved=False)

    said = await node.said()

    assert said["error"] is None
    assert said["ran"] == [{"command": "ls yes"}]
    texts = sorted(map(told_text, said["told"]))
    assert texts[1] == "ran ls yes"
    assert texts[0].endswith("was denied by a person. It did not run.")


REFUSED = """
import { Sayso } from "sayso-client";
import { guard, toolApproval } from "sayso-client/ai";
import { createRequire } from "node:module";
const sayso = new Sayso({ url: "http://x", token: "t", agent: "a", session: "s" });
const manifest = createRequire(import.meta.url)("ai/package.json");
const elsewhere = new URL("file:///nowhere/at/all.mjs").href;
const loads = {
  meta: import.meta, manifest, nothing: undefined, elsewhere: { url: elsewhere },
  other: { name: "mastra", version: "7.0.0" }, eight: { name: "ai", version: "8.0.0" },
  beta: { name: "ai", version: "7.0.0-beta.1" }, strange: { name: "ai", version: "seven" },
  seventy: { name: "ai", version: "70.0.0" }, bare: { name: "ai", version: "7" },
};
const said = {};
for (const [name, loaded] of Object.entries(loads)) {
  try {
    said[name] = typeof toolApproval(sayso, loaded);
  } catch (error) {
    said[name] = error.message;
  }
}
const tools = { here: { execute: () => 1 }, there: { description: "runs in the browser" } };
try { guard(sayso, tools); } catch (error) { said.there = error.message; }
said.named = Object.keys(guard(sayso, tools, { elsewhere: ["there"] })).join();
console.log(JSON.stringify(said));
"""


@pytest.mark.parametrize("version", ["ai-6", "ai-7"])
async def test_an_approval_that_would_be_ignored_is_not_made(
    projects: dict[str, Project], version: str
) -> None:
    file = projects[version].folder / "refused.mjs"
    file.write_text(REFUSED)

    said = projects[version].run(f'await import("{file.as_uri()}")')

    for loaded in ("meta", "manifest"):
        if version == "ai-7":
            assert said[loaded] == "function"
        else:
            assert "runs the tool without asking" in said[loaded]
            assert "guard(sayso, tools)" in said[loaded]
    assert said["beta"] == "function"
    for loaded in ("nothing", "elsewhere", "other"):
        assert "not known which version of ai is loaded" in said[loaded]
    for loaded in ("eight", "strange", "seventy", "bare"):
        assert "is not known to ask toolApproval" in said[loaded]
    assert "there has no execute function" in said["there"]
    assert said["named"] == "here,there"


async def test_version_6_does_ignore_such_an_approval(
    world: World, projects: dict[str, Project]
) -> None:
    """What the refusal is for. Once this fails, `guard` is not the only way there any more."""
    script = AGENT.replace("toolApproval(sayso, import.meta,", "(() => async () => 'denied')(")
    node = await projects["ai-6"].start(
        script, world, {"HOW": json.dumps({"door": "approval", "calls": [CALL]})}
    )

    assert (await node.said())["ran"] == [CALL]


TYPES = """
import { generateText, tool, type LanguageModel, type ToolSet } from "ai";
import { Sayso, type Verdict } from "sayso-client";
import { guard, toolApproval } from "sayso-client/ai";
import { z } from "zod";
declare const sayso: Sayso, model: LanguageModel;
const tools = {
  deploy: tool({ inputSchema: z.object({ release: z.number() }), execute: async () => "done" }),
} satisfies ToolSet;
const guarded: typeof tools = guard(sayso, tools);
export const said = await generateText({ model, prompt: "go", tools: guarded });
export const text: string | undefined = said.staticToolResults[0]?.output;
export const verdict: Verdict = await sayso.check({ name: "x", arguments: { a: [1] } });
export const approve = toolApproval(sayso, import.meta);
"""
APPROVED = (
    'export const ran = generateText({ model, prompt: "go", tools, toolApproval: approve });\n'
)


@pytest.mark.parametrize(("version", "more"), [("ai-6", ""), ("ai-7", APPROVED)])
async def test_the_types_fit_those_of_the_sdk(
    projects: dict[str, Project], version: str, more: str
) -> None:
    file = projects[version].folder / "types.mts"
    file.write_text(TYPES + more)

    strict = ("--strict", "--noEmit", "--skipLibCheck", "--target", "es2022")
    compiled(*strict, "--module", "nodenext", "--types", "", str(file))
