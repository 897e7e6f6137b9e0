"""Whatever the client in TypeScript is answered, only a clear yes to its call is one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from support.api_world import World
from support.typescript import Project
from support.typescript_calls import CHECK, ask

from sayso.calls import new_id
from sayso_bots.server.webserver import answering, bind_port, url_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

Told = dict[str, Any]


def approving(told: Told) -> None:
    """The server's own answer, as it should be."""
    request = told["request"]
    told["response"] = {
        "type": "PERMISSION_RESPONSE",
        "permissionId": request["permissionId"],
        "approved": True,
        "argumentsDigest": request["argumentsDigest"],
    }


LIES: dict[str, Callable[[Told], object]] = {
    "yes in words": lambda told: told["response"].update(approved="true"),
    "one": lambda told: told["response"].update(approved=1),
    "nothing said": lambda told: told["response"].pop("approved"),
    "another question": lambda told: told["response"].update(permissionId=new_id()),
    "no question": lambda told: told["response"].pop("permissionId"),
    "another digest": lambda told: told["response"].update(argumentsDigest="jcs-sha256:00"),
    "no digest": lambda told: told["response"].pop("argumentsDigest"),
    "an unknown end": lambda told: told["response"].update(type="PERMISSION_APPROVED"),
    "no type": lambda told: told["response"].pop("type"),
    "another type": lambda told: told["response"].update(type="TEXT_APPROVAL_RESPONSE"),
    "another request": lambda told: told["request"].update(permissionId=new_id()),
    "another tool": lambda told: told["request"].update(functionName="ls"),
    "other arguments": lambda told: told["request"].update(argumentsDigest="jcs-sha256:00"),
    "an edit without its digest": lambda told: told["response"].update(modifiedArguments={"a": 1}),
    "an edit with another digest": lambda told: told["response"].update(
        modifiedArguments={"a": 1}, modifiedDigest=told["request"]["argumentsDigest"]
    ),
    "an edit that is a list": lambda told: told["response"].update(
        modifiedArguments=[1], modifiedDigest=told["request"]["argumentsDigest"]
    ),
    "a list": lambda told: told.update(response=[told["response"]]),
    "a word": lambda told: told.update(response="approved"),
    "no request": lambda told: told.pop("request"),
    "nothing": lambda told: told.clear(),
}


@asynccontextmanager
async def a_liar() -> AsyncIterator[str]:
    """A server that answers each call as its tool says."""

    async def tell(request: web.Request) -> web.Response:
        asked = await request.json()
        told = {"request": {**asked, "run": {}}, "response": None}
        approving(told)
        if (lie := LIES.get(asked["functionName"])) is not None:
            lie(told)
        return web.json_response(told, status=201)

    with bind_port("127.0.0.1", 0) as sockets:
        async with answering(sockets, [web.post("/agents/{rest:.*}", tell)]):
            yield url_of(sockets)


async def test_anything_but_a_clear_yes_to_this_very_call_is_a_no(
    world: World, project: Project
) -> None:
    script = f"""{CHECK}
    const said = {{}};
    for (const name of JSON.parse(process.env.NAMES)) {{
      try {{
        const verdict = await sayso.check({{ name, arguments: {{ command: "x" }} }});
        said[name] = verdict.allowed ? "RAN" : verdict.outcome;
      }} catch (error) {{
        said[name] = error.name;
      }}
    }}
    console.log(JSON.stringify(said));
    """
    async with a_liar() as url:
        node = await ask(project, world, script, url=url, NAMES=["the truth", *LIES])
        said = await node.said()

    assert said.pop("the truth") == "RAN"
    assert set(said) == set(LIES)
    assert set(said.values()) == {"MismatchError", "ArgumentsError", "unknown"}
