"""Several cards as one Slack message: a line for each with its own buttons, then those for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from gettext import NullTranslations
from typing import Any

from sayso.cards.bundle import EACH, MOST_IN_BUNDLE, Bundle
from sayso.cards.card import DESCRIPTION_LIMIT, SHOW_ALL, Card, CardBody, Choice, Ended
from sayso.cards.gist import bundle_alert
from sayso.cards.outcomes import outcome_by
from sayso.cards.plain_text import expires
from sayso.cards.truncation import Room, cut_notice
from sayso.text.visible import format_count, one_line
from sayso_slack.blocks import (
    ACTION_PREFIX,
    UNPARSED,
    Spans,
    below,
    build_actions,
    button,
    card_message,
    confirming,
    count_hidden_answers,
    danger_line,
    fact_lines,
    name_step,
    outcome,
    second_step,
    sure_buttons,
    what_it_was,
)
from sayso_slack.fallback_text import TEXT_LIMIT, escape_text
from sayso_slack.limits import (
    CONTENT_LIMIT,
    LINES,
    LONGEST_BELOW,
    MOST_BELOW,
    count_hidden_facts,
    fit_card,
)
from sayso_slack.value_blocks import (
    Block,
    build_call_line,
    button_label,
    code,
    context,
    literal,
    local_time,
    own_markup,
    plain_text,
    quote,
    rich_text,
    section,
    value_parts,
)

# All blocks of a message may hold about 12,000 characters (undocumented, see limits.py).
# Of these 10,000, 1,300 are for what is said once, 900 for the menus or the second step of one
# line, and the rest for the lines: each takes 700 beside its content and its description.
_FOR_LINES = 7_700
_BESIDE = 700
_TITLE = 80
_LEAST_LINES = 5
_ASKER = 300
_COMMON_FACTS = 4
_OWN_FACTS = 2
_LABEL, _VALUE = 30, 70
_SPANS = Spans(who=90, name=45, reason=110, stored=150)
_ANSWER = 60
_ANSWERS = 2
_NOTICE = 150
_SECOND_STEP = 800
_DANGERS = 2


def bundle_room(body: CardBody, count: int) -> Room | None:
    """Return the room of this card in a message with so many; None: it must stand alone."""
    if count > MOST_IN_BUNDLE or len(body.title) > _TITLE:
        return None
    if any(len(choice.label) > LONGEST_BELOW and not choice.stores for choice in body.choices):
        return None  # here it is offered a level down
    line = _FOR_LINES // count - _BESIDE
    left = max(line - len(body.content), line // 3)
    description = min(len(body.description), left, DESCRIPTION_LIMIT)
    lines = max(LINES // count, _LEAST_LINES)
    return Room(min(line - description, CONTENT_LIMIT), description, lines=lines)


def bundle_message(cards: Sequence[Card]) -> dict[str, Any]:
    """Build the arguments of chat.postMessage and chat.update that show these cards.

    Whatever the cards hold, Slack takes it: 50 blocks at most, and 10,000
    characters in all of them.
    """
    bundle = Bundle(tuple(_fit_card(card, len(cards)) for card in cards))
    text = escape_text("\n".join(_in_words(bundle)), TEXT_LIMIT)
    return {"text": text, "blocks": list(_blocks(bundle)), **UNPARSED}


def _fit_card(card: Card, count: int) -> Card:
    shown = fit_card(card)
    shown = replace(shown, body=replace(shown.body, title=one_line(shown.body.title, _TITLE)))
    room = bundle_room(shown.body, count) or Room(0, 0)
    return replace(
        shown,
        limit=min(shown.limit, room.content),
        description_limit=min(shown.description_limit, room.description),
        lines=min(shown.lines, room.lines),
    )


def _blocks(bundle: Bundle) -> Iterator[Block]:
    yield {"type": "header", "text": plain_text(bundle.title)}
    if common := _common(bundle):
        yield rich_text(section(*common))
    for number, card in enumerate(bundle.cards, 1):
        yield {"type": "divider"}
        yield from _line(bundle, number, card)
    yield {"type": "divider"}
    if bundle.notice:
        yield context(plain_text(bundle.notice))
    if bundle.expires:
        first, last = bundle.expires
        expires = bundle.translations.gettext("Expires")
        yield context(own_markup(f"{expires} {local_time(first, bundle.translations)}"))
        if (last - first).total_seconds() >= 60:
            yield context(
                own_markup(
                    bundle.translations.gettext("The last one expires {when}").format(
                        when=local_time(last, bundle.translations)
                    )
                )
            )
    if bundle.choices:
        # docs.slack.dev, block kit: a fresh block_id whenever a message is updated.
        block_id = f"{ACTION_PREFIX}all:{len(bundle.waiting)}:{bundle.handle}"
        elements = [button(bundle.cards[0], choice, choice.label) for choice in bundle.choices]
        yield {"type": "actions", "block_id": block_id, "elements": elements}


def _common(bundle: Bundle) -> list[Block]:
    """Build the asker and the facts that hold for all."""
    said = (
        [(bundle.translations.gettext("Asked by"), one_line(bundle.asker, _ASKER))]
        if bundle.asker
        else []
    )
    said += bundle.facts[:_COMMON_FACTS]
    if more := len(bundle.facts[_COMMON_FACTS:]):
        said.append(count_hidden_facts(more, bundle.translations))
    return list(fact_lines(said))


def _line(bundle: Bundle, number: int, card: Card) -> Iterator[Block]:
    """One card; docs.slack.dev, blocks: at most 50 in a message, here 5 for each of 8 cards."""
    titled = (
        what_it_was(card, with_asker=not bundle.asker) if card.is_short else [code(card.body.title)]
    )
    parts = [section(literal(f"{number}. ", bold=True), *titled)]
    if isinstance(card.state, Ended):
        parts.append(outcome(card.state, card.translations, _SPANS))
        parts += _answers(card.state, card.translations)
    parts += value_parts(card.on_screen.values)
    if card.description:
        label = section(literal(card.described, bold=True))
        parts += [label, quote(literal(card.description))]
    if facts := list(_own_facts(bundle, card)):
        parts.append(section(*fact_lines(facts)))
    if (choice := confirming(card)) is not None:
        parts.append(second_step(choice, card.translations, most=_SECOND_STEP))
    yield rich_text(*parts)
    if small := list(_small_print(card)):
        yield context(*map(plain_text, small))
    if danger := card.danger(_DANGERS):
        yield rich_text(danger_line(danger))
    if elements := list(_elements(number, card, choice)):
        step = f":sure:{choice.key}" if choice else name_step(card)
        yield build_actions(card, step, elements)


def _small_print(card: Card) -> Iterator[str]:
    if not isinstance(card.state, Ended) and card.state.notice:
        yield f"✍️ {one_line(card.state.notice, _NOTICE)}"
    if notice := cut_notice(card):
        yield notice


def _own_facts(bundle: Bundle, card: Card) -> Iterator[tuple[str, str]]:
    if card.is_short:
        return
    own = bundle.own_facts(card)
    for label, value in own[:_OWN_FACTS]:
        yield one_line(label, _LABEL), one_line(value, _VALUE)
    if len(own) > _OWN_FACTS:
        yield (
            card.translations.gettext("More"),
            format_count(
                card.translations,
                "{count} more fact is not shown here",
                "{count} more facts are not shown here",
                len(own) - _OWN_FACTS,
            ),
        )
    if isinstance(card.state, Ended) or card.state.more:
        for label, value in card.details:
            yield one_line(label, _LABEL), one_line(value, _VALUE)


def _answers(ended: Ended, translations: NullTranslations) -> Iterator[Block]:
    for label, text in ended.facts[:_ANSWERS]:
        answered = literal(f"{one_line(label, _LABEL)} ", bold=True)
        yield quote(answered, literal(one_line(text, _ANSWER)))
    if more := len(ended.facts[_ANSWERS:]):
        yield count_hidden_answers(more, translations)


def _elements(number: int, card: Card, at_second_step: Choice | None) -> Iterator[Block]:
    """The buttons of one line, named by its number for those who hear them read out."""
    if isinstance(card.state, Ended):
        for choice in card.choices:
            yield button(card, choice, f"{button_label(choice)} {number}")
        return
    if at_second_step is not None:
        yield from sure_buttons(card, at_second_step)
        yield button(card, card.step_back, card.translations.gettext("Back"))
        return
    direct = (*EACH.values(), SHOW_ALL.key)
    for choice in () if card.state.more else card.choices:
        if choice.key in direct:
            yield button(card, choice, f"{button_label(choice)} {number}")
    others = [choice for choice in card.choices if choice.key not in direct] + list(card.more)
    if card.state.more:
        yield from below(card, others[:MOST_BELOW], f"{number}-")
        back = card.translations.gettext("Back")
        yield button(card, card.step_back, f"{back} {number}")
    elif others or card.leads_on:
        more = card.translations.gettext("More…")
        yield button(card, card.show_more, f"{more} {number}")


def _in_words(bundle: Bundle) -> Iterator[str]:
    """Yield the text for notifications and screen readers, the most important first."""
    yield bundle_alert(bundle)
    yield bundle.title
    if bundle.expires and (first := min(bundle.waiting, key=lambda card: card.expires_at)):
        yield expires(first)
    for number, card in enumerate(bundle.cards, 1):
        how = ""
        if isinstance(card.state, Ended):
            who = card.state.who and one_line(card.state.who, _SPANS.who)
            outcome = outcome_by(card.translations, one_line(card.state.outcome, 30), who)
            how = f" ({outcome})"
        yield f"{number}. {card.body.title}{how}"
        if danger := card.danger(_DANGERS):
            yield danger
        yield from (f"| {line}" for line in card.content.split("\n") if line)
        if notice := cut_notice(card):
            yield notice


def message(cards: Sequence[Card]) -> dict[str, Any]:
    """Build the arguments of chat.postMessage and chat.update that show these cards."""
    shown = card_message(cards[0]) if len(cards) == 1 else bundle_message(cards)
    # Below the title: who is called must not be below the fold, where Slack cuts long messages.
    shown["blocks"][1:1] = build_call_line(cards)
    return shown
