"""A process under test: ``python -m bench.serve lean|floor|paper|everyday STORE PORT CHATS``.

The secrets are in its environment. All have the same event loop, asyncio's own, and collect garbage
as ``sayso serve`` does once it has started; so does ``sayso serve`` itself, beside these.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable

from sayso_bots.process.resources import collect_seldom

if __name__ == "__main__":
    _, kind, store, port_word, chats_word = sys.argv
    port, chats = int(port_word), int(chats_word)
    secret, hook = os.environ["SLACK_SIGNING_SECRET"], os.environ["TELEGRAM_WEBHOOK_SECRET"]

    def serving() -> Awaitable[None]:
        """What this process is; what the others need is not loaded."""
        if kind == "lean":
            from bench.lean import serve_lean

            return serve_lean(store, port, secret, hook, chats)
        if kind == "floor":
            from bench.floor import serve_floor

            return serve_floor(store, port, secret)
        if kind == "everyday":
            from bench.everyday import serve_everyday

            return serve_everyday(store, port, secret, hook, chats)
        from bench.ours import serve_paper

        return serve_paper(store, port, secret, hook)

    async def _main() -> None:
        work = serving()
        collect_seldom()
        await work

    asyncio.run(_main())
