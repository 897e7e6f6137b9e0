"""An agent on the protocol's own package: it asks before it runs what the prompt says."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from acp import PromptResponse, run_agent, start_tool_call
from acp.schema import (
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    ToolCallUpdate,
)


class Deployer:
    """Writes a file for each command that it was allowed to run."""

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        self.folder = Path(cwd)
        return NewSessionResponse(session_id="s-1")

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> PromptResponse:
        command = prompt[0].text
        started = start_tool_call(
            "call-1", "Run it", kind="execute", raw_input={"command": command}
        )
        await self.client.session_update(session_id, started)
        said = await self.client.request_permission(
            session_id=session_id,
            tool_call=ToolCallUpdate(tool_call_id="call-1"),
            options=[
                PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
                PermissionOption(option_id="no", name="Reject", kind="reject_once"),
            ],
        )
        outcome = said.outcome
        if outcome.outcome == "selected" and outcome.option_id == "yes":
            secrets = [name for name in os.environ if name.startswith("SAYSO_")]
            (self.folder / "ran").write_text(f"{command} {secrets}")
        return PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    agent: Any = Deployer()
    asyncio.run(run_agent(agent))
    sys.exit(0)
