"""An argument that no connection could make right is an error at once, and not a denial later."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import ConfigError, Gate, RulePolicy, RunRef, ToolCall
from sayso.agent.options import GateOptions
from sayso.agent.timeouts import in_seconds
from sayso.events import Outcome
from sayso.policy.chain import Chain, When

CALL = ToolCall("x", {})

STORES: list[tuple[Any, str]] = [
    ("http://x", r"begins with 'http'; use redis://host:port/db or memory://"),
    ("localhost:6379", r"begins with 'localhost:6379'; use redis://host:port/db or memory://"),
    (":geheim@there:6379", r"begins with 'there:6379'; use redis://"),
    ("redis://:geheim@there:port/0", r"the port in the store.s URL is not a number"),
    ("redis://there?colour=geheim", r"an option that means nothing"),
    ("redis://:geheim@there/abc", r"its database is a number"),
    ("redis://there/-1", r"its database is a number"),
    ("redis://there/0/1", r"its database is a number"),
    (6379, r"a store's URL is a text such as redis://host:port/db, not 6379"),
]
ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    (
        {"policy": "allow"},
        r"policy='allow' is not a policy; pass an object such as sayso\.RulePolicy",
    ),
    ({"policy": RulePolicy}, r"policy=RulePolicy is not a policy"),
    ({"policy": {"allow": []}}, r"policy=dict is not a policy"),
    ({"timeout": "soon"}, r"timeout: a timeout 'soon' is not a duration: write 90s, 10m"),
    ({"timeout": "10"}, r"timeout: .*10 has no unit, write 10s or 10m"),
    ({"timeout": 0}, r"timeout: .*more than 0 seconds and at most 30 days, not 0 s"),
    ({"timeout": "31d"}, r"timeout: .*at most 30d"),
    ({"timeout": None}, r"timeout: a timeout is seconds, a timedelta or a text .*, not None"),
    ({"patience": -1}, r"patience: .*not -1 s"),
    ({"requested_by": "alice"}, r"requested_by: 'alice' is not an account; write platform:account"),
    ({"folder": "here"}, r"folder='here': a folder is written from /"),
    ({"timeout": True}, r"timeout: a timeout is seconds, .*, not True"),
    ({"timeout": []}, r"timeout: a timeout is seconds, .*, not \[\]"),
    ({"timeout": 10**400}, r"timeout: .*at most 30 days, not inf s"),
    ({"requested_by": 5}, r"requested_by: 5 is not an account; write platform:account"),
    ({"folder": Path("/x")}, r"folder=PosixPath\('/x'\): pass its path as text"),
    ({"folder": 5}, r"folder=5: pass its path as text"),
    ({"where": "x"}, r"where='x': pass a sayso\.Where, a function that returns one, or None"),
    ({"where": 5}, r"where=5: pass a sayso\.Where"),
    ({"observe": "x"}, r"observe='x': pass a function that takes an event"),
]


@pytest.mark.parametrize(("url", "said"), STORES)
def test_a_store_that_there_cannot_be_is_refused_at_once(url: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=f"^url: .*{said}") as caught:
        sayso.connect(url)

    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(("url", "said"), STORES)
async def test_no_gate_opens_on_a_store_that_there_cannot_be(url: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        async with Gate.open(url, run=RunRef("agent", "s-1")):
            pass


def test_without_a_store_there_is_no_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAYSO_STORE_URL", raising=False)
    for nothing in (None, ""):
        with pytest.raises(ConfigError, match=r"no store is named: .* or set SAYSO_STORE_URL"):
            sayso.connect(nothing)

    monkeypatch.setenv("SAYSO_STORE_URL", "localhost")
    with pytest.raises(ConfigError, match=r"^SAYSO_STORE_URL: .*'localhost'; use redis://"):
        sayso.connect()


@pytest.mark.parametrize(("wrong", "said"), ARGUMENTS)
async def test_an_argument_that_makes_no_sense_is_refused_at_once(
    wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        sayso.connect("memory://", **wrong)
    with pytest.raises(ConfigError, match=said):
        async with Gate.open("memory://", run=RunRef("agent", "s-1"), **wrong):
            pass


@pytest.mark.parametrize("nobody", ["", "  ", 7])
def test_an_agent_or_a_session_without_a_name_is_refused_at_once(nobody: Any) -> None:
    with pytest.raises(ConfigError, match=r"^agent=.* names nothing; name the agent"):
        sayso.connect("memory://", agent=nobody)
    with pytest.raises(ConfigError, match=r"^session=.* names nothing; leave it out"):
        sayso.connect("memory://", session=nobody)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"agent": "\ud800"}, r"^agent='.ud800': pass text in valid Unicode"),
        ({"session": "\ud800"}, r"^session='.ud800': pass text in valid Unicode"),
        ({"session": "x" * 513}, r"^session: .* has 513 characters: 512 are possible"),
        ({"project": "\ud800"}, r"^project='.ud800': pass text in valid Unicode"),
        ({"project": None}, r"^project=None: pass text"),
        ({"project": 5}, r"^project=5: pass text"),
        ({"project": Path("/x")}, r"^project=PosixPath.*: pass text"),
    ],
)
def test_a_name_that_no_run_can_have_is_refused_at_once(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        sayso.connect("memory://", **wrong)


@pytest.mark.parametrize(
    ("run", "what"), [(RunRef("", "s-1"), "agent"), (RunRef("a", ""), "session")]
)
def test_a_gate_is_for_an_agent_and_a_session(run: RunRef, what: str) -> None:
    with pytest.raises(ConfigError, match=f"^{what}='' names nothing"):
        GateOptions(run)


def test_what_is_no_policy_is_no_part_of_one() -> None:
    wrong: Any = "deny"
    with pytest.raises(ConfigError, match=r"^policy 2 of a Chain='deny' is not a policy"):
        Chain(RulePolicy(), wrong)
    with pytest.raises(ConfigError, match=r"^then='deny' is not a policy"):
        When(lambda *_: True, wrong)
    with pytest.raises(ConfigError, match=r"^otherwise='deny' is not a policy"):
        When(lambda *_: True, RulePolicy(), wrong)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("10m", 600.0), ("1h30m", 5400.0), (90, 90.0), (timedelta(minutes=1), 60.0), ("200ms", 0.2)],
)
def test_a_timeout_is_written_as_in_the_settings(written: Any, seconds: float) -> None:
    assert in_seconds(written) == seconds


async def test_a_call_waits_as_long_as_its_text_says() -> None:
    with sayso.connect("memory://", timeout="10m", patience="1s") as handle:
        verdict = await handle.check(CALL, timeout="50ms")
        assert verdict.outcome is Outcome.EXPIRED
        with pytest.raises(ValueError, match="a timeout '5' is not a duration: 5 has no unit"):
            await handle.check(CALL, timeout="5")
