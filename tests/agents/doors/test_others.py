"""Frameworks without a module of ours: what their page says to write does as was said."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from ag2.events import ToolCallEvent, ToolResultsEvent
from ag2.testing import TestClient, TestConfig
from agno.models.base import Model as AgnoModel
from agno.models.response import ModelResponse
from e2e.asked import Asked, asked
from e2e.hands import SlackHands
from haystack import component
from haystack.dataclasses import ChatMessage, ToolCall
from smolagents.models import ChatMessage as SmolMessage
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from smolagents.models import Model as SmolModel
from support.agent_pages import ANSWERS, programs
from support.ports import free_port
from support.scenes import cards

from sayso import StoreUnreachableError
from sayso.errors import GateClosedError

PAGE = dict(zip(("haystack", "agno", "ag2", "smolagents"), programs("others"), strict=True))


@component
class Haystack:
    """Deploys release 42, and then says what came of it."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> dict[str, Any]:
        if results := messages[-1].tool_call_results:
            return {"replies": [ChatMessage.from_assistant(str(results[-1].result))]}
        call = ToolCall(tool_name="deploy", arguments={"release": 42}, id="call_1")
        return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, messages: list[ChatMessage], tools: Any = None, **_: Any
    ) -> dict[str, Any]:
        return cast("dict[str, Any]", self.run(messages))


class Agno(AgnoModel):
    """Deploys release 42, and then says what came of it."""

    def invoke(self, messages: Any, assistant_message: Any, **_: Any) -> ModelResponse:
        results = [one.content for one in messages if one.role == "tool"]
        if results:
            return ModelResponse(role="assistant", content=str(results[-1]))
        function = {"name": "deploy", "arguments": json.dumps({"release": 42})}
        call = {"id": "call_1", "type": "function", "function": function}
        return ModelResponse(role="assistant", tool_calls=[call])

    async def ainvoke(self, *given: Any, **more: Any) -> ModelResponse:
        return self.invoke(*given, **more)

    def invoke_stream(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    ainvoke_stream = invoke_stream

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        return cast("ModelResponse", response)

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return cast("ModelResponse", response)


class Smol(SmolModel):
    """Deploys release 42, and then says what came of it."""

    def generate(self, messages: Any, *_: Any, **__: Any) -> SmolMessage:
        said = [one for one in messages if _role(one) == MessageRole.TOOL_RESPONSE]
        name, given = "deploy", {"release": 42}
        if said:
            text = str(said[-1].content[0]["text"])
            name, given = "final_answer", {"answer": text.strip().splitlines()[-1]}
        function = ChatMessageToolCallFunction(name=name, arguments=given)
        call = ChatMessageToolCall(function=function, id="call_1", type="function")
        return SmolMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def _role(message: Any) -> Any:
    return message.role


class Ag2(TestConfig):
    """Deploys release 42, and then says what came of it."""

    def create(self) -> Any:
        async def client(messages: Any, context: Any, **_: Any) -> Any:
            if isinstance(last := messages[-1], ToolResultsEvent):
                return await TestClient(_text(last))(messages, context)
            call = ToolCallEvent("deploy", arguments=json.dumps({"release": 42}))
            return await TestClient(call)(messages, context)

        return client


def _text(results: ToolResultsEvent) -> str:
    return "\n".join(part.content for one in results.results for part in one.result.parts)


MODELS: dict[str, Callable[[], Any]] = {
    "haystack": Haystack,
    "agno": lambda: Agno(id="scripted"),
    "ag2": Ag2,
    "smolagents": Smol,
}


@pytest.fixture
async def scene(store_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asked]:
    monkeypatch.setenv("SAYSO_STORE_URL", store_url)
    async with asked(store_url) as opened:
        yield opened


def started(framework: str, folder: Path, **changes: str) -> dict[str, Any]:
    """The program of a framework, with such changes, up to the call of its main."""
    names: dict[str, Any] = {"model": MODELS[framework](), "__name__": "page"}
    # Some frameworks read the source of a tool.
    file = folder / "page.py"
    program = PAGE[framework]
    for was, becomes in changes.items():
        assert was in program
        program = program.replace(was, becomes)
    file.write_text(program)
    exec(compile(file.read_text(), str(file), "exec"), names)
    return names


@pytest.mark.parametrize(("button", "printed"), ANSWERS)
@pytest.mark.parametrize("framework", PAGE)
async def test_the_program_of_a_framework_asks_and_does_as_was_said(
    scene: Asked,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    framework: str,
    button: str,
    printed: str,
) -> None:
    names = started(framework, tmp_path)
    running = scene.ask(names["main"]())

    await SlackHands(scene.playground).press(button)
    await running

    assert printed in capsys.readouterr().out.splitlines()[-1]
    assert cards(scene) == 1
    names["sayso"].close()


@pytest.mark.parametrize("framework", PAGE)
async def test_nothing_runs_once_the_handle_is_closed(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    framework: str,
) -> None:
    monkeypatch.setenv("SAYSO_STORE_URL", "memory://")
    names = started(framework, tmp_path)
    names["sayso"].close()

    with suppress(GateClosedError):
        await names["main"]()

    assert "release 42 is out" not in capsys.readouterr().out


@pytest.mark.parametrize("framework", PAGE)
async def test_nothing_runs_while_the_store_is_away(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    framework: str,
) -> None:
    monkeypatch.setenv("SAYSO_STORE_URL", f"redis://127.0.0.1:{free_port()}")
    names = started(framework, tmp_path, **{"connect(": "connect(patience=0.2, "})

    with suppress(StoreUnreachableError):
        await names["main"]()

    assert "release 42 is out" not in capsys.readouterr().out
    names["sayso"].close()


@pytest.mark.parametrize("framework", ["haystack", "ag2", "smolagents"])
async def test_an_edited_call_runs_as_edited(
    scene: Asked, capsys: pytest.CaptureFixture[str], tmp_path: Path, framework: str
) -> None:
    names = started(framework, tmp_path)
    running = scene.ask(names["main"]())

    edited = {"Arguments": json.dumps({"release": 41})}
    await SlackHands(scene.playground).fill_in("Edit arguments…", edited)
    await running

    assert "release 41 is out" in capsys.readouterr().out
    names["sayso"].close()


async def test_an_edited_call_of_agno_does_not_run(
    scene: Asked, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = started("agno", tmp_path)
    running = scene.ask(names["main"]())

    edited = {"Arguments": json.dumps({"release": 41})}
    await SlackHands(scene.playground).fill_in("Edit arguments…", edited)
    await running

    printed = capsys.readouterr().out
    assert "is out" not in printed
    assert "Make this call instead" in printed
    names["sayso"].close()
