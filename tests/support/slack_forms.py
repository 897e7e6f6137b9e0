"""A form with a field of every kind, its card, and what Slack sends once it is filled in."""

from __future__ import annotations

import json
from typing import Any

from support.clock import Clock
from support.slack_kit import APP, TEAM, Client, Payload, a_card, callback, post

from sayso.cards.card import Card, Choice
from sayso.chats.places import MessageRef, Place
from sayso.forms.form import Form, FormField, Option
from sayso_slack.modal import form_modal

COLOURS = tuple(Option(label, label.lower()) for label in ("Red", "Green", "Blue"))
CITIES = tuple(Option(f"City {number}", number) for number in range(1, 13))

ORDER = Form(
    "Order",
    (
        FormField("name", "Name", hint="As on the door", minimum=2, maximum=20),
        FormField("notes", "Notes", multiline=True, required=False),
        FormField("why", "Why", suggestions=("Too risky", "Not today", "R&D <said> 100%26")),
        FormField("count", "Count", "integer", minimum=1, maximum=9),
        FormField("weight", "Weight", "number", required=False, minimum=0.5),
        FormField("express", "Express", "boolean"),
        FormField("gift", "Gift", "boolean", required=False),
        FormField("colour", "Colour", "option", options=COLOURS),
        FormField("city", "City", "option", options=CITIES),
        FormField("extras", "Extras", "options", options=COLOURS, required=False),
        FormField("stops", "Stops", "options", options=CITIES, maximum=2, required=False),
        FormField("day", "Day", "date"),
    ),
    submit="Order",
    note="Please look twice.",
)
FILLED_IN: dict[str, Any] = {
    "Name": "Bob",
    "Why": "because",
    "Count": "3",
    "Weight": "2.5",
    "Express": "Yes",
    "Colour": "Green",
    "City": "City 11",
    "Extras": ["Red", "Blue"],
    "Stops": ["City 2"],
    "Day": "2026-11-21",
}
VALUES = {
    "name": "Bob",
    "why": "because",
    "count": 3,
    "weight": 2.5,
    "express": True,
    "colour": "green",
    "city": 11,
    "extras": ["red", "blue"],
    "stops": [2],
    "day": "2026-11-21",
}
FILL_IN = Choice("order", "Order", "primary", form=ORDER)
WHERE = MessageRef(Place("slack", "C0OPS", "1600000000.000001"), "1700000000.000100")


def a_form(*fields: FormField, **changes: Any) -> Form:
    return Form(**{"title": "Order", "fields": fields or (FormField("it", "It"),), **changes})


def a_view(form: Form = ORDER, card: Card | None = None) -> Payload:
    """The view of a form as the adapter opens it."""
    return form_modal(card or a_card(choices=(FILL_IN,)), FILL_IN, form, WHERE)


def a_submission(
    view: Payload | None = None, values: Payload | None = None, **changes: Any
) -> Payload:
    """A form sent off, as Slack sends it; a change to ``...`` removes the field."""
    sent = {
        **(view or a_view(a_form())),
        "id": "V0FORM",
        "team_id": TEAM,
        "state": {"values": values if values is not None else written("it", "Bob")},
        "hash": "1.x",
        "app_id": APP,
        "app_installed_team_id": TEAM,
    }
    payload: Payload = {
        "type": "view_submission",
        "team": {"id": TEAM, "domain": "acme"},
        "user": {"id": "U0ALICE", "username": "alice", "name": "alice", "team_id": TEAM},
        "api_app_id": APP,
        "token": "PLACEHOLDER_VERIFICATION_TOKEN",
        "trigger_id": "1.2.PLACEHOLDER_TRIGGER",
        "view": sent,
        "response_urls": [],
        "enterprise": None,
        "is_enterprise_install": False,
    }
    changed = {**payload, **changes}
    return {name: value for name, value in changed.items() if value != ...}


def written(name: str, text: str | None, kind: str = "plain_text_input") -> Payload:
    """The state of one written input."""
    return {f"sayso:in:{name}": {"sayso:value": {"type": kind, "value": text}}}


def metadata(view: Payload) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(view["private_metadata"])
    return found


def picked(name: str, value: str | None, kind: str = "radio_buttons") -> Payload:
    option = value and {"text": {"type": "plain_text", "text": f"Words of {value}"}, "value": value}
    state = {"type": kind, "selected_option": option}
    return {f"sayso:in:{name}": {"sayso:value": state}}


def several(name: str, *values: str, kind: str = "checkboxes") -> Payload:
    options = [{"text": {"type": "plain_text", "text": v}, "value": v} for v in values]
    return {f"sayso:in:{name}": {"sayso:value": {"type": kind, "selected_options": options}}}


def dated(name: str, date: str | None) -> Payload:
    return {f"sayso:in:{name}": {"sayso:value": {"type": "datepicker", "selected_date": date}}}


async def sent(client: Client, clock: Clock, document: Payload) -> tuple[int, Any]:
    """Status and answer of a form that was sent off."""
    status, text = await post(client, *callback(document, clock.seconds()))
    return status, json.loads(text) if text else None
