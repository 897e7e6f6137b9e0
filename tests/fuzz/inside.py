"""What is tried inside this process: settings, schemas, envelopes of Socket Mode."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutations import CANARY, mangled_text, mutated
from fuzz.targets import Surroundings, slack_payload
from support.desk_double import DeskDouble
from support.slack_kit import a_config

from sayso.clock import utc_now
from sayso.errors import ConfigError, InvalidInputError, SchemaError
from sayso.forms.json_schema import build_schema_form
from sayso_bots.config.settings import build_settings
from sayso_bots.config.source import parse_source
from sayso_slack import SlackAdapter, SlackListener

SLOW_SECONDS = 2.0
_ROOT = Path(__file__).parents[2]
_SETTINGS = (_ROOT / "deploy" / "sayso.example.toml").read_text()
_SECRET = "secret-of-the-fuzzer"
_ENV = {
    "SLACK_BOT_TOKEN": f"xoxb-{_SECRET}",
    "SLACK_SIGNING_SECRET": _SECRET,
    "TELEGRAM_BOT_TOKEN": "123456789:" + "AAE" * 12,
    "TELEGRAM_WEBHOOK_SECRET": _SECRET,
    "SAYSO_STORE_URL": f"redis://:{_SECRET}@127.0.0.1/0",
}
_PIECES = (
    "",
    "0",
    "-1",
    "1e400",
    "nan",
    "true",
    '""',
    "''",
    "[]",
    "{}",
    "[[]]",
    "[" * 200,
    "[" * 5_000,
    "{a=" * 200,
    '"' + "x" * 5_000 + '"',
    '"\\ud800"',
    '"\\u0000"',
    '"\\u001b[31m"',
    "\x1b[31m",
    '"slack:C0OPS"',
    '"telegram:4242"',
    '"slack:@"',
    '"1s"',
    '"999999999d"',
    "1979-05-27T07:32:00Z",
    "[route]",
    "[[route]]",
    "[people]",
    "[[people]]",
    "[api]",
    "[[api.token]]",
    "a." * 300 + "b = 1",
    "9" * 5_000,
    'tool = "***{a,b}[[:alpha:]"',
    '"!(+(a|b)|*(c))"',
    f'"xoxb-{_SECRET}"',
)
_SCHEMAS: tuple[Any, ...] = (
    {
        "type": "object",
        "title": "Order",
        "properties": {
            "who": {"type": "string", "minLength": 1, "maxLength": 40, "pattern": "^[a-z]+$"},
            "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 2},
            "size": {"enum": ["small", "large"]},
            "extras": {"type": "array", "items": {"enum": ["milk", "sugar"]}, "maxItems": 2},
            "day": {"type": "string", "format": "date"},
            "really": {"type": "boolean"},
            "price": {"type": ["number", "null"], "exclusiveMinimum": 0},
            "to": {
                "type": "object",
                "properties": {"city": {"$ref": "#/$defs/city"}},
                "required": ["city"],
            },
        },
        "required": ["who", "size"],
        "additionalProperties": False,
        "$defs": {"city": {"oneOf": [{"const": "Rome"}, {"const": "Oslo", "title": "Oslo!"}]}},
    },
)


_FILLED: tuple[Any, ...] = ("", "a", "1", "2027-01-15", CANARY, None, [], ["milk"], True, 10**400)


def settings(rng: Random) -> str:
    """Settings that are read, or refused in words; a problem, empty when there is none."""
    text = mangled_text(rng, _SETTINGS, _PIECES)
    env = {name: value for name, value in _ENV.items() if rng.random() < 0.9}
    if rng.random() < 0.1:
        env[rng.choice(list(_ENV))] = rng.choice(("", " ", "x", "\x1b[31m", "é" * 40, "0"))
    try:
        build_settings(parse_source(text, env))
    except ConfigError as error:
        said = str(error)
        if "\x1b" in said or _SECRET in said:
            return f"the error shows what it should not: {said!r:.300}"
        return "" if len(said) < 100_000 else f"the error has {len(said)} characters"
    return ""


def schemas(rng: Random) -> str:
    """A schema that is a form, or refused in words."""
    schema = mutated(rng, rng.choice(_SCHEMAS), _SCHEMAS)
    try:
        # As it arrives: what is no JSON, and what no parser reads, is refused before.
        schema = json.loads(json.dumps(schema, allow_nan=False))
    except (ValueError, RecursionError):
        return ""
    try:
        made = build_schema_form(schema)
        raw = {field.name: rng.choice(_FILLED) for field in made.form.fields}
        made.build_data(made.form.read(raw))
    except (SchemaError, InvalidInputError):
        pass
    return ""


INSIDE: dict[str, Callable[[Random], str]] = {"settings": settings, "schemas": schemas}


def tried(target: Callable[[Random], str], rng: Random) -> str:
    """One call of a target of this process; a problem, empty when there is none."""
    since = time.process_time()
    try:
        problem = target(rng)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    took = time.process_time() - since
    return problem or (f"it took {took:.1f} s" if took > SLOW_SECONDS else "")


class _Kept(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class Envelopes:
    """A listener of Slack in this process, for envelopes of Socket Mode."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._log = _Kept()

    async def __aenter__(self) -> Envelopes:
        config = a_config(api_url="http://127.0.0.1:1/")
        adapter = await self._stack.enter_async_context(SlackAdapter(config))
        self._listener = await self._stack.enter_async_context(
            SlackListener(config, adapter, DeskDouble(), clock=utc_now)
        )
        logging.getLogger("sayso_slack").addHandler(self._log)
        return self

    async def __aexit__(self, *_: object) -> None:
        logging.getLogger("sayso_slack").removeHandler(self._log)
        await self._stack.aclose()

    async def tried(self, rng: Random, there: Surroundings) -> str:
        """One envelope; a problem, empty when there is none."""
        payload = slack_payload(rng, there)
        if not isinstance(payload, Mapping):
            return ""  # slack_sdk lets nothing else through
        self._log.lines.clear()
        try:
            async with asyncio.timeout(5):
                answer = await self._listener.answer_envelope(str(rng.random()), dict(payload))
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:300]}"
        logged = "\n".join(self._log.lines)
        if answer.status >= 500:
            return f"answered {answer.status}: {logged[:300]}"
        return f"logged: {logged[:300]}" if "Traceback" in logged or CANARY in logged else ""
