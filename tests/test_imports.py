"""An agent's process pays for pydantic and little else; how long that takes, the bench says."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

_PYDANTIC = """
import pydantic
class Model(pydantic.BaseModel):
    name: str
"""


def _fresh(code: str) -> str:
    """What the code prints in an interpreter of its own, without pydantic's plugins."""
    environment = {**os.environ, "PYDANTIC_DISABLE_PLUGINS": "__all__"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


_ALL = "import sys, sayso\nfor name in sayso.__all__: getattr(sayso, name)\nprint(*sys.modules)"


def test_importing_sayso_loads_nothing_of_it() -> None:
    loaded = _fresh("import sys, sayso\nprint(*sys.modules)").split()

    assert {"pydantic", "asyncio"} & set(loaded) == set()
    assert [name for name in loaded if name.startswith("sayso")] == ["sayso"]


def test_importing_sayso_costs_less_than_importing_pydantic_with_a_model() -> None:
    timed = "import time\nbegan = time.process_time()\n{}\nprint(time.process_time() - began)"
    ours = min(float(_fresh(timed.format("import sayso"))) for _ in range(3))
    floor = min(float(_fresh(timed.format(_PYDANTIC))) for _ in range(3))

    assert ours <= 1.5 * floor


def test_no_name_of_sayso_loads_a_chat_library_redis_or_a_framework() -> None:
    loaded = _fresh(_ALL).split()

    packages = {name.partition(".")[0] for name in loaded}
    heavy = {"aiohttp", "redis", "hiredis", "slack_bolt", "slack_sdk", "telegram", "httpx", "trio"}
    ours = {"sayso_agents", "sayso_slack", "sayso_telegram", "sayso_bots", "sayso_playground"}
    assert packages & (heavy | ours) == set()


def test_all_of_sayso_loads_pydantic_rfc8785_and_the_standard_library_only() -> None:
    loaded = _fresh(_ALL).split()
    needed = _fresh(f"import sys\n{_PYDANTIC}\nprint(*sys.modules)").split()

    packages = {name.partition(".")[0] for name in loaded}
    known = {name.partition(".")[0] for name in needed} | sys.stdlib_module_names
    assert packages - known == {"sayso", "rfc8785"}


def test_an_agent_on_a_redis_store_loads_redis_besides_and_nothing_else() -> None:
    loaded = _fresh(_ALL + "\nimport sayso.stores.redis\nprint(*sys.modules)").split()
    needed = _fresh(f"import sys\n{_PYDANTIC}\nprint(*sys.modules)").split()

    packages = {name.partition(".")[0] for name in loaded}
    known = {name.partition(".")[0] for name in needed} | sys.stdlib_module_names
    # redis-py looks for these, and does without.
    optional = {"cryptography", "opentelemetry", "xxhash"}
    assert packages - known - optional == {"sayso", "rfc8785", "redis", "hiredis"}


# Every module of a room, and what of another one came with it: `sayso` itself is run first, which
# a contract between rooms does not see.
_WHOLE_ROOM = """
import sys
from importlib import import_module
from pkgutil import walk_packages
room = import_module("{room}")
loaded = [import_module(each.name) for each in walk_packages(room.__path__, "{room}.")]
print(len(loaded), *(name for name in sys.modules if name.startswith("{other}")))
"""


@pytest.mark.parametrize(
    ("room", "other"), [("sayso.agent", "sayso.worker"), ("sayso.worker", "sayso.agent")]
)
def test_an_agents_process_loads_no_desk_and_a_desk_no_agent(room: str, other: str) -> None:
    loaded, *strangers = _fresh(_WHOLE_ROOM.format(room=room, other=other)).split()

    assert int(loaded) > 10
    assert strangers == []


def test_a_gate_in_memory_loads_no_more() -> None:
    loaded = _fresh(
        "import asyncio, sys\n"
        "from sayso import Gate, RunRef\n"
        "async def main():\n"
        "    async with Gate.open('memory://', run=RunRef('agent', 'session')):\n"
        "        print(*sys.modules)\n"
        "asyncio.run(main())"
    ).split()

    packages = {name.partition(".")[0] for name in loaded}
    assert packages & {"aiohttp", "redis", "slack_bolt", "telegram", "httpx"} == set()


_ASKING = """
import asyncio, sys
from sayso import Gate, RunRef, ToolCall
async def main():
    async with Gate.open("memory://", run=RunRef("agent", "session")) as gate:
        asked = await gate.submit(ToolCall("deploy"))
        await gate.cancel(asked)
        print((await gate.resume(asked)).outcome.value)
asyncio.run(main())
print(*sys.modules)
"""
_READING = """
import json
from sayso.questions.wire import decode
said = {"type": "CONTINUATION_RESPONSE", "sourceName": "a", "continuationId": "q-1",
        "approved": True, "extensionAmount": 5, "decidedAt": "2026-01-01T00:00:00Z"}
ending = decode(json.dumps(said))
print(type(ending).__name__, ending.extension_amount)
"""


def test_a_run_that_asks_for_permissions_pays_for_no_other_kind_of_question() -> None:
    came_of_it, *loaded = _fresh(_ASKING).split()

    kinds = ("clarification", "continuation", "structured_input", "text_approval")
    rarely = ("agent.orchestrator", "agent.tools.wrap", "policy.chain", "rules.lint")
    unpaid = {f"sayso.{name}" for name in (*rarely, "forms.json_schema")}
    unpaid |= {f"sayso.questions.{name}" for name in kinds}
    assert came_of_it == "cancelled"
    assert {name for name in unpaid if find_spec(name) is None} == set()
    assert unpaid & set(loaded) == set()


_WITHOUT_THE_VALIDATOR = """
import sys
sys.modules["jsonschema_rs"] = None  # as if the extra were not installed
from sayso.errors import SchemaError
from sayso.questions.structured_input import schema_of
flat = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}}
print(schema_of(flat) == flat)
try:
    schema_of({"type": "object", "properties": {"at": {"type": "object"}}})
except SchemaError as error:
    print(error)
"""


def test_flat_data_needs_no_validator_and_the_rest_says_which_one_it_needs() -> None:
    flat, nested = _fresh(_WITHOUT_THE_VALIDATOR).splitlines()

    assert flat == "True"
    reason = "it needs jsonschema-rs: install Sayso with its extra `schema`"
    assert nested == f"/properties/at: {reason}"


_NO_CARDS = {
    "always.offers",
    "cards.card",
    "chats.adapter",
    "dangers.found",
    "forms.form",
    "questions.permission_card",
}


def test_a_run_that_asks_loads_nothing_of_which_cards_are_made() -> None:
    came_of_it, *loaded = _fresh(_ASKING).split()

    unpaid = {f"sayso.{name}" for name in _NO_CARDS}
    assert came_of_it == "cancelled"
    assert {name for name in unpaid if find_spec(name) is None} == set()
    assert unpaid & set(loaded) == set()


_ASKED = """
import gc, sys
from sayso_bots.cli.main import main
sys.argv = ["sayso", "ask", "deploy", "--timeout", "300ms", "--quiet"]
print(main(), gc.isenabled(), gc.get_freeze_count() > 10_000)
print(*sys.modules)
"""


def test_a_question_from_the_shell_loads_only_what_asks_it(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_STORE_URL", redis_url)

    said, ended, *loaded = _fresh(_ASKED).splitlines()

    names = {*loaded[0].split()}
    settings = ("people", "platforms", "routes", "settings")
    unpaid = {f"sayso.{name}" for name in (*_NO_CARDS, "stores.memory")}
    unpaid |= {f"sayso_bots.config.{name}" for name in settings}
    assert (said, ended) == ("expired", "3 True True")
    assert {name for name in unpaid if find_spec(name) is None} == set()
    assert unpaid & names == set()
    packages = {name.partition(".")[0] for name in names}
    assert packages & {"aiohttp", "difflib", "slack_bolt", "telegram"} == set()


def test_events_of_every_kind_are_read_where_nothing_has_asked_for_them() -> None:
    assert _fresh(_READING).split() == ["ContinuationResponseEvent", "5"]


def test_the_hosted_api_knows_every_kind_of_question() -> None:
    told = _fresh("from sayso_bots.api.bodies import request_kinds\nprint(*request_kinds())")

    kinds = {"CLARIFICATION", "CONTINUATION", "PERMISSION", "STRUCTURED_INPUT", "TEXT_APPROVAL"}
    assert {f"{kind}_REQUEST" for kind in kinds} == set(told.split())
