"""What is decided without a person: a line in the log, and in the audit where that is wanted."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from sayso.agent.verdict import CheckResult
from sayso.calls import RunRef, ToolCall
from sayso.digests import arguments_digest, short_digest
from sayso.errors import InvalidCallError, StoreUnreachableError
from sayso.stores import audit
from sayso.stores.protocols import Audit
from sayso.text.visible import one_line

_log = logging.getLogger(__name__)

_LONGEST = 120


class Unasked:
    """Tells of each call that rules decide on: which one by its digest, never by its values."""

    def __init__(self, run: RunRef, audit: Audit | None = None) -> None:
        self._run = run
        self._audit = audit

    def log(self, call: ToolCall, verdict: CheckResult) -> CheckResult:
        """Tell the log, on one line; the verdict as it is."""
        if _log.isEnabledFor(logging.INFO):
            said = "allowed" if verdict.approved else "denied"
            digest = _digest(_decided_on(call, verdict))
            names = (call.name, verdict.line, self._run.agent_id, self._run.session_id)
            tool, line, agent, session = (one_line(name, _LONGEST) for name in names)
            _log.info(
                "%s is %s by %s (agent %s, session %s, digest %s)",
                tool,
                said,
                line,
                agent,
                session,
                short_digest(digest) if digest else "none",
            )
        return verdict

    async def tell(self, call: ToolCall, verdict: CheckResult) -> CheckResult:
        """Tell the log and, where that is wanted, the audit; the verdict as it is.

        The use of a remembered rule is in the audit in any case.

        Raises:
            StoreUnreachableError: what is allowed cannot be audited, so it is not allowed.
        """
        self.log(call, verdict)
        if self._audit is None or verdict.rule_id:
            return verdict
        digest = _digest(_decided_on(call, verdict))
        facts = audit.ruled(self._run, call.name, digest, verdict.line, allowed=verdict.approved)
        try:
            await self._audit.note(facts)
        except StoreUnreachableError as error:
            if verdict.approved:
                raise
            _log.warning("a denial is not in the audit: %s", error)
        return verdict


def _decided_on(call: ToolCall, verdict: CheckResult) -> Mapping[str, Any]:
    return verdict.arguments if verdict.approved else call.arguments


def _digest(arguments: Mapping[str, Any]) -> str:
    try:
        return arguments_digest(arguments)
    except InvalidCallError:
        return ""  # they cannot be shown; a policy may allow or deny them all the same
