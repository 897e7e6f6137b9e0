"""The programs of docs/agents/typescript.md: they fit their types, and run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.api_world import World
from support.typescript import Project, compiled
from support.typescript_calls import asked

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Path(__file__).parents[2] / "docs" / "agents" / "typescript.md"
LOOP, GUARD, APPROVAL = re.findall(
    r"^```ts\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
)
# What the page says is yours.
TYPES = """
import type { LanguageModel } from "ai";
declare const process: { env: Record<string, string | undefined> };
declare const model: LanguageModel;
declare function runCommand(given: Record<string, unknown>): Promise<string>;
"""
RUN_COMMAND = "const runCommand = async ({ command }) => `ran ${command}`;\n"
MODEL = (
    'import { modelCalling } from "./model.mjs";\n'
    'const model = modelCalling("deploy", [{ release: 42 }], console);\n'
    "console.push = (told) => console.log(told.value ?? told.reason);\n"
)
ASKED = {"loop": "terraform apply", "guard": "42", "approval": "42"}
PROGRAMS = {
    "loop": RUN_COMMAND + LOOP,
    "guard": MODEL + GUARD,
    "approval": MODEL + GUARD.partition("const { text }")[0] + APPROVAL,
}
RAN = {"loop": "ran terraform apply", "guard": "release 42 is out", "approval": "release 42 is out"}


@pytest.mark.parametrize(
    ("version", "program"),
    [("ai-6", LOOP), ("ai-6", GUARD), ("ai-7", LOOP), ("ai-7", GUARD + APPROVAL)],
)
async def test_the_programs_of_the_page_fit_their_types(
    projects: dict[str, Project], version: str, program: str
) -> None:
    file = projects[version].folder / f"page-{len(program)}.mts"
    file.write_text(TYPES + program)

    strict = ("--strict", "--noEmit", "--skipLibCheck", "--target", "es2022")
    compiled(*strict, "--module", "nodenext", "--types", "", str(file))


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize(
    ("version", "name"),
    [("ai-6", "loop"), ("ai-6", "guard"), ("ai-7", "guard"), ("ai-7", "approval")],
)
async def test_the_programs_of_the_page_run(
    world: World, projects: dict[str, Project], version: str, name: str, allowed: bool
) -> None:
    program = PROGRAMS[name].replace('"customer-7"', f'"{world.session_id}"')
    node = await projects[version].start(program, world, suffix=".mts")
    await world.respond(await asked(world, ASKED[name]), approved=allowed, reason="so it is")

    code, out, err = await node.ended()

    assert code == 0, err
    assert (RAN[name] in out) is allowed
    assert ("denied by a person: so it is" in out) is not allowed
