"""The pictures of docs/questions, taken again: ``python tests/e2e/question_pictures.py [FOLDER]``.

Both chats are played on the page of the playground, with the bots as they run in earnest. Needs
what screenshots.py needs.
"""

# ruff: noqa: E402  run as a script, the folders of the tests and of the example are not known
from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples" / "spend_limit")]

from e2e.picture_scene import Scene, playing
from playwright.async_api import expect
from spend_questions import Spend
from support.browser import NO_CHROMIUM, browser, chromium

from sayso.calls import ToolCall, new_id
from sayso.clock import utc_now
from sayso.digests import arguments_digest
from sayso.questions.permission import PermissionRequestEvent
from sayso_bots.demo.agent import long_call

IMAGES = ROOT / "docs" / "images" / "questions"

_SETTINGS = """
[questions]
reasons = ["Wrong environment", "Not during business hours"]
types = ["spend_questions"]
"""
_DEPLOY = ToolCall("deploy", {"service": "shop", "release": 42, "environment": "production"})
_DEPLOY_SCHEMA = {
    "type": "object",
    "properties": {
        "service": {"enum": ["shop", "search", "billing"], "title": "Service"},
        "release": {"type": "integer", "minimum": 1, "title": "Release"},
        "environment": {"enum": ["staging", "production"], "title": "Environment"},
    },
    "required": ["service", "release", "environment"],
}
_WINDOW: dict[str, Any] = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date", "title": "Day"},
        "hours": {"type": "integer", "minimum": 1, "maximum": 8, "title": "Hours"},
        "services": {
            "type": "array",
            "items": {"enum": ["shop", "search", "billing"]},
            "title": "Services",
        },
        "announce": {"type": "boolean", "title": "Announce it"},
        "contact": {"type": "string", "title": "Contact", "maxLength": 80},
    },
    "required": ["day", "hours", "announce"],
}
_DRAFT = """\
Subject: Delivery of your order A-1001

Dear customer,

your parcel arrives on Thursday, not on Tuesday:
it was sent to the wrong depot. We are sorry, and
have refunded the postage of 4.90 €.

The shop team"""


async def _deploy(scene: Scene) -> None:
    await scene.stage.gate.check(_DEPLOY, description="Release 42 passed all checks.")


async def _permission(scene: Scene) -> None:
    async with scene.asked(_deploy(scene)):
        await scene.cards()
        await scene.press("slack", "Always")
        await scene.dialog("always", "confirm")
        await scene.page.locator("[data-confirm=no]").click()
        await scene.press("telegram", "Always")
        await expect(scene.messages("telegram")).to_contain_text("exactly these")
        await scene.card("telegram", "always")
        await scene.press("telegram", "Back")
        await scene.press("telegram", "More…")
        await expect(scene.button("telegram", "Edit arguments…")).to_be_visible()
        await scene.card("telegram", "more")
        await scene.press("telegram", "Back")
        await scene.press("slack", "Allow")
        await scene.ended()
        await scene.cards("answered")


async def _reason_in_slack(scene: Scene) -> None:
    async with scene.asked(_deploy(scene)):
        await scene.pick("Deny with a reason…")
        await scene.fill(reason="Release 41 is still being rolled out.")
        await scene.dialog("form")
        await scene.submit()
        await scene.ended()
        await scene.cards("answered")


async def _reason_in_telegram(scene: Scene) -> None:
    async with scene.asked(_deploy(scene)):
        await scene.press("telegram", "More…")
        await scene.press("telegram", "Deny with a reason…")
        await scene.write("Release 41 is still being rolled out.")
        await scene.dialogue("form", composer=True)
        await scene.send()
        await scene.ended()


async def _changes(scene: Scene) -> None:
    async with scene.asked(_deploy(scene)):
        await scene.pick("Ask for changes…")
        await scene.fill(reason="To staging first, please.")
        await scene.submit()
        await scene.ended()
        await scene.cards("changes")


async def _edit_in_slack(scene: Scene) -> None:
    async with scene.asked(_deploy(scene)):
        await scene.pick("Edit arguments…")
        await scene.fill(arguments="environment=staging\nrelease=41")
        await scene.dialog("form")
        await scene.submit()
        await scene.ended()
        await scene.cards("answered")


async def _edit_in_telegram(scene: Scene) -> None:
    async with scene.asked(_deploy(scene)):
        await scene.press("telegram", "More…")
        await scene.press("telegram", "Edit arguments…")
        await scene.write("environment=staging")
        await scene.dialogue("form", composer=True)
        await scene.send()
        await scene.ended()


async def _edit_as_fields(scene: Scene) -> None:
    gate = scene.stage.gate
    request = PermissionRequestEvent(
        source_name=gate.run.agent_id,
        run=gate.run,
        expires_at=utc_now() + timedelta(minutes=10),
        permission_id=new_id(),
        function_name=_DEPLOY.name,
        description="Release 42 passed all checks.",
        call_id=_DEPLOY.call_id,
        arguments=dict(_DEPLOY.arguments),
        arguments_digest=arguments_digest(_DEPLOY.arguments),
        arguments_schema=_DEPLOY_SCHEMA,
    )
    async with scene.asked(gate.emit(request)):
        await scene.pick("Edit arguments…")
        await scene.dialog("fields")
        await scene.modal.locator("[data-close]").click()
        await scene.press("telegram", "More…")
        await scene.press("telegram", "Edit arguments…")
        await expect(scene.button("telegram", "Keep: shop")).to_be_visible()
        await scene.press("telegram", "Keep: shop")
        await scene.prompted()
        await scene.dialogue("fields")


async def _everything(scene: Scene) -> None:
    ask = scene.stage.gate.check(long_call(), description="The yearly price adjustment.")
    async with scene.asked(ask):
        await scene.cards(height=420)
        await scene.press("slack", "Show all")
        await scene.dialog("shown")
        await scene.modal.locator("[data-close]").click()
        await scene.press("telegram", "Show all")
        await expect(scene.page.locator("[data-document]")).to_be_visible()
        await expect(scene.button("telegram", "Allow")).to_be_visible()
        await scene.dialogue("shown")
        await scene.cards("seen", height=420)


async def _batch(scene: Scene) -> None:
    calls = [
        ToolCall("read_file", {"path": "deploy/production.toml"}, "1"),
        ToolCall("run_command", {"command": "pytest -q"}, "2"),
        _DEPLOY,
    ]
    async with scene.asked(scene.stage.gate.check_batch(calls, together=True)):
        await scene.cards()
        await scene.press("slack", "Allow 1")
        await expect(scene.button("telegram", "Allow 1")).to_have_count(0)
        await expect(scene.button("slack", "Allow 1")).to_have_count(0)
        await scene.cards("partly")
        await scene.press("telegram", "Deny 3")
        await scene.press("telegram", "Allow 2")
        await scene.ended()
        await scene.cards("answered")


_OPTIONS = ("eu-west", "us-east")
_WHERE = "Which region should the new replica run in?"
_CONTEXT = "Both have capacity; the customers are in Europe and Asia."


async def _clarification(scene: Scene) -> None:
    ask = scene.stage.gate.clarify(_WHERE, context=_CONTEXT, options=_OPTIONS)
    async with scene.asked(ask):
        await scene.cards()
        await scene.press("slack", "Other…")
        await scene.fill(answer="ap-south, next to the customers")
        await scene.dialog("form")
        await scene.modal.locator("[data-close]").click()
        await scene.press("telegram", "Other…")
        await scene.write("ap-south, next to the customers")
        await scene.dialogue("form", composer=True)
        await scene.send()
        await scene.ended()
        await scene.cards("answered")


async def _text_approval(scene: Scene) -> None:
    ask = scene.stage.gate.approve_text(
        _DRAFT, title="E-mail about order A-1001", context="The customer asked where it is."
    )
    async with scene.asked(ask):
        await scene.cards()
        await scene.press("telegram", "Approve")
        await scene.ended()
        await scene.cards("answered")


async def _structured_input(scene: Scene) -> None:
    ask = scene.stage.gate.collect(_WINDOW, text="When may the database be upgraded?")
    async with scene.asked(ask):
        await scene.cards()
        await scene.press("slack", "Fill in…")
        await scene.fill(day="2026-12-01", hours="9", contact="alice")
        await scene.modal.get_by_label("Yes").check()
        await scene.modal.get_by_label("shop").check()
        await scene.submit()
        await expect(scene.modal.locator("[data-error]")).to_be_visible()
        await scene.dialog("form")
        await scene.modal.locator("[data-close]").click()
        await _answer_field_by_field(scene)
        await scene.ended()
        await scene.cards("answered")


async def _answer_field_by_field(scene: Scene) -> None:
    await scene.press("telegram", "Fill in…")
    await scene.send("2026-12-01")
    await expect(scene.messages("telegram").filter(has_text="2 of 5")).to_be_visible()
    await scene.write("3")
    await scene.dialogue("form", composer=True)
    await scene.send()
    await scene.press("telegram", "shop")
    await scene.press("telegram", "billing")
    await scene.dialogue("options")
    await scene.press("telegram", "Done (2)")
    await scene.press("telegram", "Yes")
    await scene.press("telegram", "Skip")
    await expect(scene.button("telegram", "Send")).to_be_visible()
    await scene.dialogue("summary")
    await scene.press("telegram", "Send")


async def _continuation(scene: Scene) -> None:
    ask = scene.stage.gate.may_continue(20, 20, description="Two of five files are converted.")
    async with scene.asked(ask):
        await scene.cards()
        await scene.press("slack", "Continue (+10)")
        await scene.ended()
        await scene.cards("answered")


async def _your_own(scene: Scene) -> None:
    ask = scene.stage.gate.ask(Spend(500, "Two more months of the load test cluster"))
    async with scene.asked(ask):
        await scene.cards()
        await scene.press("telegram", "Grant less…")
        await scene.write("120")
        await scene.dialogue("form", composer=True)
        await scene.press("slack", "Grant less…")
        await scene.fill(euros="120", note="one month")
        await scene.dialog("form")
        await scene.submit()
        await scene.ended()
        await scene.cards("answered")


SCENES: tuple[tuple[str, Callable[[Scene], Awaitable[None]]], ...] = (
    ("permission", _permission),
    ("deny-with-reason", _reason_in_slack),
    ("deny-with-reason", _reason_in_telegram),
    ("deny-with-reason", _changes),
    ("edit-arguments", _edit_in_slack),
    ("edit-arguments", _edit_in_telegram),
    ("edit-arguments", _edit_as_fields),
    ("see-everything", _everything),
    ("batch", _batch),
    ("clarification", _clarification),
    ("text-approval", _text_approval),
    ("structured-input", _structured_input),
    ("continuation", _continuation),
    ("your-own-kind", _your_own),
)


async def take_pictures(folder: Path) -> list[Path]:
    """Play all scenes, each in chats of its own; where the pictures are."""
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []
    async with browser() as opened:
        for kind, play in SCENES:
            async with playing(opened, kind, folder, _SETTINGS) as scene:
                await play(scene)
                taken += scene.taken
    return taken


if __name__ == "__main__":
    if chromium() is None:
        sys.exit(NO_CHROMIUM)
    for path in asyncio.run(take_pictures(Path(*sys.argv[1:2]) if sys.argv[1:] else IMAGES)):
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
