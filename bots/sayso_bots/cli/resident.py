"""The helper that starts itself: it answers hooks, and calls of ``ask`` that need nobody.

``python -I -m sayso_bots.cli.resident`` or with ``-P``, as ``sayso_bots.resident.client`` does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso_bots.resident.place import folder_of, identity

if TYPE_CHECKING:
    from sayso.stores.backend import Backend
    from sayso_bots.resident.server import Say

MOST_STORES = 8
"""A command that names one more does its work by itself."""

Said = Mapping[str, Any]


class Commands:
    """What a helper answers: settings are read for each command, stores are opened once."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._backends: dict[str, Backend] = {}
        self._opening = asyncio.Lock()

    async def answer(self, said: Said, say: Say) -> Said | None:
        """What a command is told; None where it must do all of it itself."""
        from sayso_bots.config.source import is_unread

        words, env = said["argv"], said["env"]
        config = next((word for word in words if word.startswith("--config")), None)
        if is_unread(config, env, said["cwd"]):
            return None  # only the command itself can say so
        if words[:1] == ["hook"]:
            return await self._hook(words, env, said["text"], say)
        if words[:1] == ["ask"]:
            return await self._ask(words, env, said["cwd"])
        return None

    async def _hook(
        self, words: Sequence[str], env: Mapping[str, str], text: str, say: Say
    ) -> Said | None:
        from sayso_bots.cli.hook import hook_setup
        from sayso_bots.hook.agents import AGENTS
        from sayso_bots.hook.asking import answered
        from sayso_bots.hook.events import read_event

        settings, asker = hook_setup(words, env)
        backend = await self._backend(settings.store.url)
        if backend is None:
            return None
        event = read_event(text, AGENTS[words[1]])
        said = await answered(event, settings, asker, backend, say)
        return {"answer": said.answer, "asked": said.was_asked}

    async def _ask(self, words: Sequence[str], env: Mapping[str, str], folder: str) -> Said | None:
        from sayso_bots.cli.ask import CODES, prepared, printed
        from sayso_bots.cli.main import is_text
        from sayso_bots.cli.parser import sayso_parser
        from sayso_bots.config.source import find_named_file
        from sayso_bots.unasked import unasked

        args = sayso_parser().parse_args(words)
        if not is_text(args):
            return None
        if named := find_named_file(args.config, env):
            args.config = str(Path(folder, named))
        said = prepared(args, env)
        backend = await self._backend(said.settings.store.url)
        if backend is None:
            return None
        verdict = await unasked(
            backend,
            said.run,
            said.settings.policies,
            said.call,
            source_name=args.source,
            audit_rules=said.settings.policies.audits(said.run.agent_id, said.call.name),
        )
        if verdict is None:
            return None
        out = printed(verdict, said.settings, as_json=args.json)
        return {"code": CODES[verdict.outcome], "out": f"{out}\n"}

    async def _backend(self, url: str) -> Backend | None:
        from sayso.stores.connect import open_store

        async with self._opening:
            if url not in self._backends and len(self._backends) < MOST_STORES:
                opened = await self._stack.enter_async_context(open_store(url))
                self._backends[url] = opened
        return self._backends.get(url)


async def _serve(who: str, at: str) -> None:
    from sayso_bots.resident.server import Helper

    async with AsyncExitStack() as stack:
        await Helper(who, Commands(stack).answer).serve(at)


def main() -> int:
    """Serve until nobody has asked for a while; at once where another helper does already."""
    from sayso_bots.resident.server import only_one

    folder = folder_of(os.environ)
    if folder is None:
        return 1
    who = identity(os.environ)
    with only_one(folder, who) as at:
        if at is None:
            return 0
        # What is loaded from here on is the code of that identity, or nobody asks this helper.
        import sayso_bots.cli.ask
        import sayso_bots.cli.hook  # noqa: F401

        if identity(os.environ) != who:
            return 1
        asyncio.run(_serve(who, at))
    return 0


if __name__ == "__main__":
    sys.exit(main())
