"""Checks that a Node makes, and the requests that they are about."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from support.api_world import World
from support.typescript import Project, Running

CHECK = """
import { Sayso } from "sayso-client";
const { SAYSO_URL: url, SAYSO_TOKEN: token, SAYSO_SESSION: session, CALL, HOW } = process.env;
const sayso = new Sayso({ url, token, agent: "deploy-bot", session, ...JSON.parse(HOW ?? "{}") });
const call = JSON.parse(CALL ?? '{"name":"run_command","arguments":{"command":"terraform apply"}}');
"""
ONE = f"""{CHECK}
const {{ key, ...how }} = JSON.parse(process.env.OPTIONS ?? "{{}}");
let said;
try {{
  said = await sayso.check(call, {{ key, ...how }});
}} catch (error) {{
  said = {{ error: error.name, message: error.message }};
}}
console.log(JSON.stringify(said));
"""


async def ask(
    project: Project, world: World, script: str = ONE, *, url: str = "", **how: Any
) -> Running:
    """The script at work; what stands in capitals is told to it as JSON."""
    env = {name: json.dumps(value) for name, value in how.items()}
    return await project.start(script, replace(world, url=url or world.url), env)


async def asked(world: World, text: str = "terraform apply") -> str:
    """The id of the open request that the card with this text is about."""
    await world.card(text)
    pending = await world.backend.store.list_requests()
    return next(
        one.request.question_id
        for one in pending
        if one.request.run.session_id == world.session_id and text in str(one.request)
    )


async def ending(world: World, request_id: str) -> Any:
    shown = await world.call("GET", f"{world.branch}/requests/{request_id}?wait=10s")
    return shown.json["response"]
