"""What a framework brings to be tried: an agent behind its door, and a model that does as told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sayso import Gate, ToolCall, connect
from sayso.calls import new_id


def deploy() -> ToolCall:
    """The model deploys: the same call as ever, with an id of its own."""
    return ToolCall("deploy", {"environment": "production", "release": 42}, f"call_{new_id()}")


def restart() -> ToolCall:
    """The model restarts a service."""
    return ToolCall("restart", {"service": "web"}, f"call_{new_id()}")


@contextmanager
def agents_handle(url: str, **options: Any) -> Iterator[Gate]:
    """The handle of an agent's process, which ends with the block."""
    with connect(url, agent="deploy-bot", **{"timeout": 30, "patience": 5, **options}) as opened:
        yield opened


def nothing(_: str) -> None:
    """Tell nobody that a tool ran."""


@dataclass
class Work:
    """What the model of an agent does: in each turn one message with these calls, then a last word.

    Its tools are ``deploy`` and ``restart``. Without a ``session``, its runs are part of no
    conversation that has a name. ``ran`` are the calls that ran, with their
    arguments, as it happened; ``on_run`` is told each of their names.
    """

    turns: Sequence[Sequence[ToolCall]]
    session: str | None = field(default_factory=new_id)
    ran: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    on_run: Callable[[str], None] = nothing

    async def deploy(self, environment: str, release: int) -> str:
        """Deploy a release to an environment."""
        return self.run("deploy", environment=environment, release=release)

    async def restart(self, service: str) -> str:
        """Restart a service."""
        return self.run("restart", service=service)

    def run(self, tool: str, **arguments: Any) -> str:
        """Note that a tool ran; its result. For tools that are not async."""
        self.ran.append((tool, arguments))
        self.on_run(tool)
        return f"{tool} is done: {', '.join(map(str, arguments.values()))}"


class Door(ABC):
    """A framework and its door, set up as a user does."""

    carries_edits = True
    """Whether the hook can pass on other arguments than the model's."""

    words_of_its_own = False
    """Whether the framework frames what the model is told, whatever the door says."""

    cannot_name: frozenset[str] = frozenset()
    """Ids of conversations that no run of the framework can have."""

    @abstractmethod
    async def run(self, sayso: Gate, work: Work) -> list[str]:
        """Run the agent to its end: what its model was told of each call, in their order."""

    def run_sync(self, sayso: Gate, work: Work) -> list[str]:
        """The same for a program without an event loop, where that is possible."""
        raise NotImplementedError

    async def run_again(self, sayso: Gate, work: Work) -> None:
        """Run an agent to its end whose one call is handed to the door more than once.

        That is as the framework does it, or whoever takes a run up again.
        """
        raise NotImplementedError

    async def start(self, sayso: Gate, work: Work) -> Any:
        """Run until somebody is asked, without waiting for it; what is kept of the run.

        That is where the framework can put a run aside.
        """
        raise NotImplementedError

    async def go_on(self, sayso: Gate, work: Work, kept: Any) -> list[str]:
        """Go on with what was kept, in a process that knows nothing else of it, to the end."""
        raise NotImplementedError
