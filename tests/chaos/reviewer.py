"""A program that answers over HTTP, with a token that a route names as an approver."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import aiohttp
from chaos.bots import REVIEWER_TOKEN
from chaos.ledger import Ledger, session_of

_BETWEEN_ANSWERS = (0.2, 0.8)


class Reviewer:
    """Answers a question now and then; each answer is in the ledger before it is sent."""

    def __init__(self, api: str, agent: str, ledger: Ledger, dice: random.Random) -> None:
        self._agent = f"{api}/agents/{agent}"
        self._ledger = ledger
        self._dice = dice
        self._answered: set[str] = set()

    async def answer(self) -> None:
        """Go on until cancelled."""
        async with aiohttp.ClientSession() as http:
            while True:
                await asyncio.sleep(self._dice.uniform(*_BETWEEN_ANSWERS))
                waiting = [one for one in self._ledger.permissions if one not in self._answered]
                if waiting:
                    # The newest are those that nobody else has answered yet.
                    await self._post(http, self._dice.choice(waiting[-8:]))

    async def _post(self, http: aiohttp.ClientSession, question_id: str) -> None:
        self._answered.add(question_id)
        marker = self._ledger.ids.get(question_id)
        if marker is None:
            return
        body = {"type": "PERMISSION_RESPONSE", "permissionId": question_id, **self._said(marker)}
        url = f"{self._agent}/sessions/{session_of(marker)}/branches/main/responses"
        headers = {"Authorization": f"Bearer {REVIEWER_TOKEN}"}
        try:
            async with http.post(url, json=body, headers=headers) as reply:
                self._ledger.counts[f"answers over HTTP: {reply.status}"] += 1
        except aiohttp.ClientError:
            self._ledger.counts["answers over HTTP that nobody took"] += 1

    def _said(self, marker: str) -> dict[str, Any]:
        """Yes, no, or yes to the same call with another argument."""
        if self._dice.random() < 0.3:
            return {"approved": False, "reason": "not now"}
        self._ledger.said_yes.add(marker)
        if self._dice.random() < 0.3:
            changed = json.dumps({"what": f"{marker} edited"})
            return {"choiceKey": "edit", "inputs": {"arguments": changed}}
        return {"approved": True}
