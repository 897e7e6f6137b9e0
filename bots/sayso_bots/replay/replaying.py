"""The replay itself: each call decided on, asked where it must be, and answered as is said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from sayso.agent.choices import chosen
from sayso.always.offers import ALWAYS, WINDOW
from sayso.always.terms import GrantOptions
from sayso.always.widths import derive
from sayso.calls import RunRef, new_id
from sayso.cards.card import Choice
from sayso.digests import shown_and_digest
from sayso.policy.decision import Decision, Policy, PolicyContext, Ruling, evaluate
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import RememberedRule, Scope
from sayso_bots.replay.trace import Press, TracedCall

Length = Literal["session", "day", "project"]
LENGTHS: tuple[Length, ...] = get_args(Length)

LONG = 20
"""A session is long with so many calls."""

_BY = "replay:you"
_LIVES = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Step:
    """The end of one call: who decided on it, what was pressed, and which rule that was.

    ``rule`` is, in words, the one that was stored, or the line that decided.
    """

    n: int
    tool: str
    decided: Literal["asked", "policy", "rule"]
    pressed: Press | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """Numbers of times that people were asked, in all and once long sessions were half over."""

    calls: int
    cards: int
    per10: float
    second_half_per10: float


class Replay:
    """Decides on calls in the order of their times, with what was pressed on those before.

    ``lasts`` is for how long people press: for the session, for the project for a day, or for
    as long as a project is remembered. Where a card does not offer that, it is the session.
    """

    def __init__(
        self, policy: Policy, terms: GrantOptions, press: Press, lasts: Length = "project"
    ) -> None:
        self._policy = policy
        self._terms = terms
        self._press: Press = press
        self._lasts: Length = lasts
        self._kept: dict[tuple[str, ...], list[RememberedRule]] = defaultdict(list)
        self._said: dict[str, str] = {}

    async def step(self, n: int, traced: TracedCall) -> Step:
        """Return what becomes of the next call."""
        run = RunRef(traced.agent, traced.session, project=traced.project)
        context = PolicyContext(run, self._remembered(run, traced.at), source_name=traced.agent)
        decision = await evaluate(self._policy, traced.call, context) or Decision.ASK
        call = decision.applied_to(traced.call)
        if decision.ruling is not Ruling.ASK:
            by_rules = [self._said[one] for one in decision.rule_ids]
            if by_rules:
                return Step(n, call.name, "rule", rule="; ".join(by_rules))
            return Step(n, call.name, "policy", rule=decision.line or decision.reason)
        press = traced.press or self._press
        request = _request(traced, run)
        choice, pressed = self._choice(request, press)
        if choice is None:
            return Step(n, call.name, "asked", pressed)
        choice = self._lasting(choice)
        _, rule = chosen(request, choice.key, by=_BY, at=traced.at, terms=self._terms)
        if rule is not None:
            self._kept[_home(rule.scope, run)].append(rule)
            self._said[rule.rule_id] = choice.stores
        return Step(n, call.name, "asked", pressed, choice.stores)

    def _remembered(self, run: RunRef, at: datetime) -> tuple[RememberedRule, ...]:
        found = []
        for home in sorted({_home(scope, run) for scope in get_args(Scope)}):
            self._kept[home] = [rule for rule in self._kept[home] if rule.expires_at > at]
            found += self._kept[home]
        return tuple(found)

    def _choice(self, request: PermissionRequestEvent, press: Press) -> tuple[Choice | None, Press]:
        """The choice on the card that is pressed, and which of the presses that is."""
        if press == "never":
            return None, press
        body = request.card()
        offered = [one for one in (*body.choices, *body.more) if self._terms.lengths(one)]
        widths = [one for one in offered if one.stores and one.key.startswith(f"{ALWAYS}-")]
        wide = [one for one in offered if one.stores and one.key == WINDOW]
        if press == "narrowest" and widths:
            return widths[0], press
        if press == "widest" and (wide or widths):
            return [*widths, *wide][-1], press
        exact = [one for one in offered if one.stores and one.key == ALWAYS]
        return (exact[0], "exact") if exact else (None, "never")

    def _lasting(self, choice: Choice) -> Choice:
        """The choice for as long as people press, or else for what comes next to it."""
        allowed = [one for one in (choice, *choice.longer) if one.scope in self._terms.scopes]
        wanted = LENGTHS.index(self._lasts)
        return allowed[min(wanted, len(allowed) - 1)]


def _home(scope: Scope, run: RunRef) -> tuple[str, ...]:
    """Return the place of a rule of a scope; without a project it is that of the session."""
    if scope == "agent":
        return (run.agent_id,)
    if scope == "project" and run.project:
        return (run.agent_id, "project", run.project_text)
    return (run.agent_id, "session", run.session_id)


def _request(traced: TracedCall, run: RunRef) -> PermissionRequestEvent:
    call = traced.call
    arguments, digest = shown_and_digest(call.arguments)
    return PermissionRequestEvent(
        permission_id=new_id(),
        source_name=traced.agent,
        run=run,
        function_name=call.name,
        call_id=call.call_id,
        arguments=arguments,
        arguments_digest=digest,
        suggested_rules=derive(call, digest=digest),
        folder=call.folder,
        expires_at=traced.at + _LIVES,
    )


def count_steps(calls: Sequence[TracedCall], steps: Iterable[Step]) -> Count:
    """Count how often people were asked about these calls."""
    asked = [step.decided == "asked" for step in steps]
    late = [asked[number] for number in _late(calls)]
    return Count(len(asked), sum(asked), _per10(asked), _per10(late))


def _late(calls: Sequence[TracedCall]) -> Iterator[int]:
    """The positions of the calls in the second half of long sessions."""
    by_session: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, one in enumerate(calls):
        by_session[(one.agent, one.session)].append(number)
    for numbers in by_session.values():
        if len(numbers) >= LONG:
            yield from numbers[len(numbers) // 2 :]


def _per10(asked: Sequence[bool]) -> float:
    return round(10 * sum(asked) / len(asked), 2) if asked else 0.0
