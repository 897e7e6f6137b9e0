"""The client in TypeScript, run by Node: it asks, waits, withdraws, and has a verdict."""

from __future__ import annotations

import json
import re

import pytest
from support.api_world import World
from support.typescript import CLIENT, Project, oldest_node
from support.typescript_calls import CHECK, ONE, ask, asked, ending

pytestmark = pytest.mark.asyncio(loop_scope="module")

IMPORTS = re.compile(r"""^(?:import|export)\b[^"'(]*\bfrom ["']([^"']+)""", re.MULTILINE)
# Aborts when it is told to, and says what came of it.
ABORTED = f"""{CHECK}
const stopping = new AbortController();
process.stdin.once("data", () => stopping.abort(new Error("the user went away")));
const {{ key, withdraw }} = JSON.parse(process.env.OPTIONS ?? "{{}}");
const checks = process.env.TOGETHER
  ? sayso.checkAll([call, {{ ...call, name: "other" }}], {{ signal: stopping.signal }})
  : sayso.check(call, {{ signal: stopping.signal, key, withdraw }});
const said = await checks.then(() => "decided", (error) => error.message);
console.log(JSON.stringify(said));
process.stdin.destroy();
"""
TOGETHER = f"""{CHECK}
const calls = ["ls first", "ls second", "ls third"].map((command, index) => ({{
  name: "run_command", arguments: {{ command }}, callId: `call-${{index}}`,
}}));
const said = await sayso.checkAll(calls);
console.log(JSON.stringify(said.map((verdict) => [verdict.outcome, verdict.reason])));
"""


async def test_what_a_person_allows_may_run_with_what_was_shown(
    world: World, project: Project
) -> None:
    call = {"name": "run_command", "arguments": {"command": "ls a", "n": 1e21}, "callId": "c-1"}
    node = await ask(project, world, CALL=call, HOW={"runId": "r-1"})
    request = (await world.backend.store.get(await asked(world, "ls a"))).request  # type: ignore[union-attr]
    await world.playground.slack.press(await world.card("ls a"), "Allow", by="alice")

    said = await node.said()

    assert (said["allowed"], said["outcome"], said["edited"]) == (True, "approved", False)
    assert said["arguments"] == call["arguments"]
    assert (said["tool"], said["decidedBy"]) == ("run_command", "slack:U0ALICE")
    assert said["permissionId"] == request.question_id
    assert said["digest"] == request.digest_of_arguments
    assert request.run.run_id == "r-1"
    assert "c-1" in str(request)


async def test_what_a_person_denies_does_not_run_and_the_model_is_told_why(
    world: World, project: Project
) -> None:
    node = await ask(project, world)
    request_id = await asked(world)
    await world.respond(request_id, approved=False, reason="not on a Friday")

    said = await node.said()

    assert (said["allowed"], said["outcome"]) == (False, "denied")
    assert said["text"] == (
        "The call of run_command was denied by a person: not on a Friday. It did not run."
    )


async def test_what_a_person_edits_runs_as_edited(world: World, project: Project) -> None:
    node = await ask(project, world)
    inputs = {"arguments": '{"command": "terraform plan", "more": [1, 2.5]}'}
    reply = await world.respond(await asked(world), choiceKey="edit", inputs=inputs, approved=None)
    assert reply.status == 200, reply.text

    said = await node.said()

    assert (said["allowed"], said["edited"]) == (True, True)
    assert said["arguments"] == {"command": "terraform plan", "more": [1, 2.5]}
    assert "terraform plan" in said["text"]


async def test_an_edit_that_javascript_cannot_hold_runs_nothing(
    world: World, project: Project
) -> None:
    node = await ask(project, world)
    inputs = {"arguments": '{"command": "x", "id": 9007199254740993}'}
    await world.respond(await asked(world), choiceKey="edit", inputs=inputs, approved=None)

    assert (await node.said())["error"] == "MismatchError"


async def test_silence_is_a_no(world: World, project: Project) -> None:
    node = await ask(project, world, HOW={"timeout": 0.5})

    said = await node.said()

    assert (said["allowed"], said["outcome"]) == (False, "expired")
    assert said["text"].endswith("nobody answered in time. It did not run.")


async def test_an_abort_withdraws_the_question_and_closes_its_card(
    world: World, project: Project
) -> None:
    node = await ask(project, world, ABORTED)
    request_id = await asked(world)
    node.tell("stop")

    assert await node.said() == "the user went away"
    ended = await ending(world, request_id)
    assert (ended["type"], ended["decidedBy"]) == ("REQUEST_CANCELLED", "api:ci")


async def test_an_abort_withdraws_all_that_were_asked_together(
    world: World, project: Project
) -> None:
    node = await ask(project, world, ABORTED, TOGETHER=True)
    await asked(world)
    pending = [
        one.request.question_id
        for one in await world.backend.store.list_requests()
        if one.request.run.session_id == world.session_id
    ]
    node.tell("stop")

    assert await node.said() == "the user went away"
    assert len(pending) == 2
    assert {(await ending(world, one))["type"] for one in pending} == {"REQUEST_CANCELLED"}


async def test_what_others_may_wait_for_under_a_key_is_not_withdrawn(
    world: World, project: Project
) -> None:
    node = await ask(project, world, ABORTED, OPTIONS={"key": "turn-1"})
    request_id = await asked(world)
    node.tell("stop")
    assert await node.said() == "the user went away"
    again = await ask(project, world, OPTIONS={"key": "turn-1"})
    await world.respond(request_id)

    said = await again.said()

    assert (said["allowed"], said["permissionId"]) == (True, request_id)
    other = await ask(
        project, world, OPTIONS={"key": "turn-1"}, CALL={"name": "run_command", "arguments": {}}
    )
    assert (await other.said())["error"] == "ProblemError"


async def test_calls_that_are_asked_together_share_a_card_and_have_a_verdict_each(
    world: World, project: Project
) -> None:
    node = await ask(project, world, TOGETHER)
    card = await world.card("ls first")
    assert "ls third" in card.all_text
    await world.respond(await asked(world, "ls first"))
    await world.respond(await asked(world, "ls second"), approved=False, reason="no")
    await world.call("DELETE", f"{world.branch}/requests/{await asked(world, 'ls third')}")

    assert await node.said() == [
        ["approved", ""],
        ["denied", "no"],
        ["cancelled", "the agent withdrew it"],
    ]


async def test_a_refusal_is_an_error_with_its_reason(world: World, project: Project) -> None:
    node = await ask(project, world, HOW={"token": "sayso_wrong" + "x" * 40})

    assert await node.said() == {
        "error": "ProblemError",
        "message": "401 Unauthorized: this token is not known",
    }


@pytest.mark.parametrize("url", ["", "sayso.example.com", "ftp://sayso.example.com", "https://"])
async def test_what_is_no_address_is_said_at_once(project: Project, url: str) -> None:
    script = f"""
    import {{ Sayso }} from "sayso-client";
    const names = {{ token: "t", agent: "a", session: "s" }};
    try {{
      new Sayso({{ url: {json.dumps(url)}, ...names }});
    }} catch (error) {{
      console.log(JSON.stringify([error.name, error.message]));
    }}
    """
    name, why = project.run(script)

    assert name == "TypeError"
    assert why.startswith("url ")


async def test_the_oldest_node_that_is_promised_runs_it(world: World, project: Project) -> None:
    promised = json.loads((CLIENT / "package.json").read_text())["engines"]["node"]
    assert promised == ">=20"
    if (path := oldest_node()) is None:
        pytest.skip("this machine has no Node 20")
    node = await project.start(ONE, world, node_path=path)
    await world.playground.slack.press(await world.card("terraform apply"), "Allow", by="alice")

    assert (await node.said())["allowed"] is True


async def test_the_package_needs_nothing_and_holds_what_it_exports(project: Project) -> None:
    manifest = json.loads((CLIENT / "package.json").read_text())
    client = project.folder / "node_modules" / "sayso-client"

    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & set(manifest)
    for exported in manifest["exports"].values():
        for path in [exported] if isinstance(exported, str) else exported.values():
            assert (client / path).is_file()
    imported = set()
    for path in (client / "dist").glob("*.js"):
        imported |= set(IMPORTS.findall(path.read_text()))
    assert imported
    assert all(name.startswith("./") for name in imported)
