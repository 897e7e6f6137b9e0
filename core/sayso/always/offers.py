"""What Always can store for a call: from the literal call to wider rules, each in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from gettext import NullTranslations
from typing import Literal

from sayso.always.dangers import (
    RuleDanger,
    Sends,
    WholeTool,
    is_the_tool,
    rule_dangers,
)
from sayso.always.descriptions import button_label, meanings, warning, where
from sayso.always.widths import MOST_SUGGESTED
from sayso.calls import Folder, RunRef, ToolCall
from sayso.cards.card import LONGEST_STORED, Choice
from sayso.known.tools import roles_in
from sayso.locales import ENGLISH
from sayso.rules.matchers import depends_on_branch, told
from sayso.rules.rule import Rule, Scope, Values
from sayso.text.secrets import redaction

ALWAYS, ALWAYS_DENY, AGENT, WINDOW = "always", "deny-always", "agent", "window"

ALONE = "one"
"""What the key of a choice ends in that is about the tool of the call alone, not about others."""

DAY, PROJECT = "day", "project"
"""What the key of a choice ends in that holds for the project: for a day, and for longer."""

_OF_A_SESSION: frozenset[Scope] = frozenset({"session", "tool-window"})

# How many rules from narrow to wide are offered beside the whole tool.
MOST_WIDTHS = MOST_SUGGESTED + 1
# Of ours: the pattern on a button is looked at, and read in the second step.
_LABEL = 30


@dataclass(frozen=True, slots=True)
class Offer:
    """A choice that stores something, exactly the rule it stores, and what is dangerous in it.

    ``longer`` are the same rule for longer, and for more than the session. ``alone`` is the
    rule for the tool of the call, where it is about others, too.
    """

    choice: Choice
    rule: Rule
    effect: Literal["allow", "deny"]
    dangers: tuple[RuleDanger, ...] = ()
    longer: tuple[Offer, ...] = ()
    alone: Offer | None = None


def offers(
    call: ToolCall,
    digest: str,
    suggested: Sequence[Rule],
    run: RunRef,
    *,
    translations: NullTranslations = ENGLISH,
    folder: Folder | None = None,
) -> tuple[Offer, ...]:
    """What can be stored for a call, from narrow to wide.

    Only rules that are about this call, and that can be shown as they are, in
    full and without a secret in them. A rule for all that the tool can do is
    offered in the scope ``tool-window`` alone, whoever suggests it. So is all there is for a
    push or a pull of whatever branch an earlier step went to. ``folder`` is where
    the agent works; its files are not looked at here.
    """
    rules = _fitting(call, digest, suggested, folder)
    if not rules or rules[0] != suggested[0]:
        return ()
    making = _Offering(call, run, translations)
    return tuple(offer for offer in making.all(rules) if offer is not None)


def every(offers: Iterable[Offer]) -> Iterator[Offer]:
    """The offers, those of the same rules for longer, and those about one tool alone."""
    for offer in offers:
        yield offer
        yield from offer.longer
        if offer.alone is not None:
            yield from every((offer.alone,))


def _fitting(
    call: ToolCall, digest: str, suggested: Sequence[Rule], folder: Folder | None
) -> list[Rule]:
    rules: list[Rule] = []
    values = Values(call.arguments, folder and replace(folder, seen=False))
    for rule in suggested:
        held = bool(rule.talk) or rule.arguments_digest in (None, digest)
        fits = held and rule.matches(call, values)
        if fits and _is_showable(rule) and rule not in rules:
            rules.append(rule)
        if len(rules) == MOST_WIDTHS:
            break
    return rules


@dataclass(frozen=True, slots=True)
class _Offering:
    """Makes the offers of one card."""

    call: ToolCall
    run: RunRef
    translations: NullTranslations
    # Several offers are of one rule. It is kept, so that no other one takes its number.
    meant: dict[int, tuple[Rule, tuple[str, ...]]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def all(self, rules: Sequence[Rule]) -> Iterator[Offer | None]:
        translations = self.translations
        asked_anew = any(map(depends_on_branch, _lines_in(self.call)))
        widths = [] if asked_anew else [rule for rule in rules if not is_the_tool(rule)]
        for number, rule in enumerate(widths, 1):
            if number == 1:
                yield self._lasting(ALWAYS, translations.gettext("Always"), rule)
            else:
                yield self._width(
                    f"{ALWAYS}-{number}", button_label(rule, translations, _LABEL), rule
                )
        yield self._offer(
            WINDOW, translations.gettext("Whole tool"), Rule(self.call.name), scope="tool-window"
        )
        if widths:
            yield self._offer(
                AGENT, translations.gettext("Always, in all sessions"), widths[0], scope="agent"
            )
        yield self._lasting(
            ALWAYS_DENY, translations.gettext("Always deny"), rules[0], effect="deny"
        )

    def _width(self, key: str, label: str, rule: Rule) -> Offer | None:
        """A rule; one about several tools also about that of the call alone."""
        offer = self._lasting(key, label, rule)
        if not rule.also:
            return offer
        alone = self._lasting(f"{key}-{ALONE}", label, replace(rule, also=()))
        if offer is None or alone is None:
            return alone
        choice = replace(offer.choice, also=rule.also, alone=alone.choice)
        return replace(offer, choice=choice, alone=alone)

    def _lasting(
        self, key: str, label: str, rule: Rule, effect: Literal["allow", "deny"] = "allow"
    ) -> Offer | None:
        """For the session, if anything is stored for it; where there is a project, for that too."""
        offers = [self._offer(key, label, rule, effect=effect)]
        dangers = () if effect == "deny" else rule_dangers(rule)
        if self.run.project and not any(map(_is_for_the_session, dangers)):
            day, long = (
                self._offer(f"{key}-{suffix}", label, rule, effect=effect, scope="project")
                for suffix in (DAY, PROJECT)
            )
            offers += [day, long and replace(long, choice=replace(long.choice, for_long=True))]
        offered = [one for one in offers if one is not None]
        if not offered:
            return None
        first, *longer = offered
        choice = replace(first.choice, longer=tuple(one.choice for one in longer))
        return replace(first, choice=choice, longer=tuple(longer))

    def _offer(
        self,
        key: str,
        label: str,
        rule: Rule,
        *,
        effect: Literal["allow", "deny"] = "allow",
        scope: Scope = "session",
    ) -> Offer | None:
        """None where nothing is stored for the scope, or what is stored is too long to say."""
        if scope in _OF_A_SESSION and not self.run.can_remember:
            return None
        denies = effect == "deny"
        sentence = self.translations.gettext("never {} {}") if denies else "{} {}"
        place = where(scope, self.run, self.translations)
        said = (sentence.format(meaning, place) for meaning in self._meanings(rule))
        wordings = [text for text in said if len(text) <= LONGEST_STORED]
        if not wordings:
            return None
        dangers = () if denies else rule_dangers(rule)
        choice = Choice(
            key,
            label,
            "danger" if denies else "default",
            stores=wordings[0],
            stores_briefly=wordings[-1] if len(wordings) > 1 else "",
            needs_sight=True,
            scope=scope,
            place=place,
            for_run=not self.run.is_named,
            warning=warning(dangers, self.translations),
        )
        return Offer(choice, rule, effect, dangers)

    def _meanings(self, rule: Rule) -> tuple[str, ...]:
        if (known := self.meant.get(id(rule))) is None:
            meant = tuple(meanings(rule, self.call, self.translations))
            known = self.meant[id(rule)] = rule, meant
        return known[1]


def _lines_in(call: ToolCall) -> Iterator[object]:
    """Yield all that may be a line of a shell: any argument of a tool that nobody knows."""
    roles = roles_in(call, None)
    for name, value in call.arguments.items():
        if name == roles.command or not roles.names:
            yield value


def _is_for_the_session(danger: RuleDanger) -> bool:
    """Return True if what is dangerous so is not stored for longer than a session."""
    return isinstance(danger, Sends | WholeTool)


def _is_showable(rule: Rule) -> bool:
    if rule.arguments_digest is not None:
        return True
    return not redaction(
        {**rule.params, **{n: told(fit) for n, fit in rule.matchers.items()}}
    ).hidden
