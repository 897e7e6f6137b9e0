"""An id may be written by its beginning, where only one begins so; the audit names ids."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.commands import Run

from sayso.calls import RunRef
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, a_response, a_rule

ONE, OTHER, ENDED = "request-one-1", "request-other-2", "ended-earlier-3"


@pytest.fixture
def env(store_url: str) -> dict[str, str]:
    async def fill() -> None:
        async with redis_backend(store_url) as backend:
            for question_id in (ONE, OTHER, ENDED):
                request = a_request(question_id, run=RunRef("deploy-bot", "s-1"))
                await backend.store.open(request, seconds=30, inbox="", book=None)
            await backend.store.settle(ENDED, a_response(request), remember=a_rule("bash"))

    asyncio.run(fill())
    return {"SAYSO_STORE_URL": store_url}


@pytest.mark.parametrize(
    ("written", "meant"), [(ONE, ONE), ("request-on", ONE), ("ended", ENDED), ("request-ot", OTHER)]
)
def test_a_request_is_shown_by_the_beginning_of_its_id(
    run: Run, env: dict[str, str], written: str, meant: str
) -> None:
    done = run("show", written, "--json", env=env)

    assert json.loads(done.out)["requestId"] == meant


def test_a_beginning_of_several_names_them(run: Run, env: dict[str, str]) -> None:
    done = run("show", "request-o", env=env)

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"sayso: 2 requests begin with 'request-o': {ONE}, {OTHER}; write more of it\n"
    )


@pytest.mark.parametrize("written", ["ende", "nothing-like-it"])
def test_what_is_too_short_or_unknown_is_no_request(
    run: Run, env: dict[str, str], written: str
) -> None:
    done = run("cancel", written, env=env)

    assert done.code != 0
    assert f"no request '{written}'" in done.err


def test_a_request_is_cancelled_by_the_beginning_of_its_id(run: Run, env: dict[str, str]) -> None:
    done = run("cancel", "request-on", env=env)

    assert (done.code, done.out) == (0, f"cancelled {ONE}\n")


def test_a_rule_is_revoked_by_the_beginning_of_its_id(run: Run, env: dict[str, str]) -> None:
    [kept] = json.loads(run("rules", "--json", env=env).out)

    assert run("revoke", kept["id"][:4], env=env).code == 1
    assert f"revoked {kept['id']}" in run("revoke", kept["id"][:6], env=env).out


def test_the_audit_names_the_requests_and_times_are_written_alike(
    run: Run, env: dict[str, str]
) -> None:
    shown = run("audit", env=env).out
    times = [entry["at"] for entry in json.loads(run("audit", "--json", env=env).out)]
    [rule] = json.loads(run("rules", "--json", env=env).out)

    assert "ID" in shown.splitlines()[0].split()
    assert all(question_id in shown for question_id in (ONE, OTHER, ENDED))
    assert all(time.endswith("Z") for time in (*times, rule["storedAt"], rule["expiresAt"]))
