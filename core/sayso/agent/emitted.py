"""Questions about calls that were not made by the gate: a middleware's, or the policy's own."""

from __future__ import annotations

from dataclasses import replace

from sayso.agent.decider import Asker, Decider
from sayso.agent.options import DeniedCalls
from sayso.agent.patience import counting
from sayso.agent.timeouts import CallTime
from sayso.agent.unasked import Unasked
from sayso.agent.verdict import decided
from sayso.agent.waiting import Questions
from sayso.always.widths import derive
from sayso.clock import Clock
from sayso.policy.decision import Decision
from sayso.policy.rule_policy import denial_of, denied
from sayso.questions.permission import PermissionRequestEvent, call_of, calls_of
from sayso.questions.permission_answer import PermissionResponseEvent
from sayso.rules.declarations import schema_of
from sayso.rules.rule_set import RuleBook
from sayso.stores.protocols import Opened


class EmittedCalls:
    """Asks as a middleware put it, and says what the gate denies of calls asked about elsewhere."""

    def __init__(
        self,
        decider: Decider,
        questions: Questions,
        clock: Clock,
        denied_calls: DeniedCalls,
        unasked: Unasked,
    ) -> None:
        self._decider = decider
        self._questions = questions
        self._clock = clock
        self._denied_calls = denied_calls
        self._by_rules = unasked

    async def ask(self, request: PermissionRequestEvent) -> None:
        """Open the question. What is denied is recorded so, and nobody is asked."""
        time = CallTime.of((request.expires_at - self._clock()).total_seconds())
        asker, calls = self._decider.asker_of(request), calls_of(request)
        with counting(time):
            request = await self._decider.with_deny_rules(_with_offers(request, asker))
            while True:
                denial, book = await self._decider.standing(asker, *calls)
                ending = self._unasked(request, denial)
                opened = await self._questions.open(
                    request, time.left, heard=False, book=book, ending=ending
                )
                if isinstance(opened, Opened):
                    break
                await self._decider.refresh()
        if ending is not None:
            denied_so = Decision.DENY.because(ending.reason, line=ending.line)
            self._by_rules.log(calls[0], decided(calls[0], denied_so))

    async def overruled(
        self, request: PermissionRequestEvent, response: PermissionResponseEvent
    ) -> PermissionResponseEvent | None:
        """The denial that takes the place of an approval of what is denied by now, if it is."""
        call, *original = calls_of(request)
        changed = response.modified_arguments
        runs = call if changed is None else replace(call, arguments=changed)
        asker = self._decider.asker_of(request)
        denial, _ = await self._decider.standing(asker, runs, call, *original)
        denial = denial_of(self._denied_calls.find_reason(call.call_id)) or denial
        if denial is None:
            return None
        reason = f"{denial.reason}: {response.decided_by} could not allow it"
        return response.denied(reason=reason, line=denial.line)

    def _unasked(
        self, request: PermissionRequestEvent, denial: Decision | None
    ) -> PermissionResponseEvent | None:
        """The denial of a request that no person needs to see; None where one does."""
        denial = denial_of(self._denied_calls.find_reason(request.call_id)) or denial
        own = request.denial(RuleBook())
        if denial is None and own is not None:
            denial = denied(own)
        if denial is None:
            return None
        return request.denied(reason=denial.reason, line=denial.line, at=self._clock())


def _with_offers(request: PermissionRequestEvent, asker: Asker) -> PermissionRequestEvent:
    """The request with what a card offers of the tool, where nothing is said of it."""
    given = request.model_fields_set
    found: dict[str, object] = {}
    call = replace(call_of(request), folder=request.folder)
    if "suggested_rules" not in given:
        found["suggested_rules"] = derive(call, declared=asker.declaration)
    if "arguments_schema" not in given:
        found["arguments_schema"] = schema_of(asker.declaration)
    return request.model_copy(update=found)
