"""64 realistic calls, each with a card of its own in both chats of the playground's page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, expect

from sayso.agent.gate import Gate
from sayso.calls import Folder, RunRef, ToolCall
from sayso.where import Where
from sayso_bots.demo.stage import Stage, stage

PHONE, DESK = 390, 1_280
SCREEN = 844
"""Pixels of two screens across, and down the first screen of the phone."""

HOST = "web-1"
_ROOT = "/home/dev/shop"
_FOLDER = Folder(_ROOT)
_WHERE = Where(HOST, "~/shop", "git.example.com/example/shop", "feature/x", _ROOT)
_REASON = "A step of the task that was given this morning."

# All cards at once: chats as high as what is in them.
_LAID_OUT = """
main { height: auto; min-height: 0; align-items: start; }
.messages { min-height: 0; max-height: none; overflow: visible; }
"""
# As a sheet that a script makes: the page's policy lets no other style in.
_ADOPT = """(css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [sheet];
}"""
# Each card is put at the top of the screen; what is looked for is found as text, whatever
# elements it is in, and counts where it can be seen: not cut off, and nothing above it.
_LOOK = """([platform, wanted]) => {
  const all = [...document.querySelectorAll(`[data-platform=${platform}] article[data-message]`)];
  const cards = wanted.map(([who]) => all.find((one) => one.textContent.includes(who)));
  const pieces = (card) => {
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    const found = [];
    let at = 0;
    while (walker.nextNode()) {
      found.push({ node: walker.currentNode, at });
      at += walker.currentNode.data.length;
    }
    return found;
  };
  const place = (all, offset) => {
    const piece = all.findLast((one) => one.at <= offset);
    return [piece.node, offset - piece.at];
  };
  const bottom = (card, text, top) => {
    const all = pieces(card);
    const at = all.map((one) => one.node.data).join("").indexOf(text);
    if (at < 0) return null;
    const range = document.createRange();
    range.setStart(...place(all, at));
    const [node, end] = place(all, at + text.length - 1);
    range.setEnd(node, end + 1);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
    const seen = boxes.every((box) => {
      const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      return box.left >= 0 && box.right <= innerWidth + 0.5 && (hit === null || card.contains(hit));
    });
    return seen && boxes.length ? Math.max(...boxes.map((box) => box.bottom)) - top : null;
  };
  const edge = (card, label, side, top) => {
    const button = card.querySelector(`[data-button="${label}"]`);
    return button && button.getBoundingClientRect()[side] - top;
  };
  return cards.map((card, number) => {
    card.scrollIntoView({ block: "start", behavior: "instant" });
    const box = card.getBoundingClientRect();
    const wide = [card, ...card.querySelectorAll("*")].some((one) =>
      one.getBoundingClientRect().right > innerWidth + 0.5
      || (one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1));
    const buttons = [...card.querySelectorAll("[data-button]")];
    return {
      height: box.height,
      bottoms: Object.fromEntries(
        wanted[number].map((text) => [text, bottom(card, text, box.top)])),
      danger: bottom(card, "⚠️ Danger:", box.top),
      says: card.textContent,
      allow: edge(card, "Allow", "bottom", box.top),
      deny: edge(card, "Deny", "bottom", box.top),
      show_all: edge(card, "Show all", "bottom", box.top),
      first: Math.min(...buttons.map((one) => one.getBoundingClientRect().top)) - box.top,
      wide,
    };
  });
}"""


@dataclass(frozen=True)
class RealisticCall:
    """A call, the dangers on its card by name, and the parts of it that matter most."""

    tool: str
    arguments: dict[str, Any]
    dangers: list[str]
    matters: list[str]


@dataclass(frozen=True)
class Look:
    """What of one card is to be seen, with its top at the top of the screen.

    ``bottoms`` are how far down what is looked for ends, None where it cannot be seen;
    ``danger`` and those after it are the same of our line and of some buttons, ``first`` is
    where the buttons begin. ``wide`` says that some of it is outside the screen.
    """

    height: float
    bottoms: dict[str, float | None]
    danger: float | None
    says: str
    allow: float | None
    deny: float | None
    show_all: float | None
    first: float
    wide: bool


REALISTIC = tuple(
    RealisticCall(
        *(json.loads(line)[field] for field in ("tool", "arguments", "dangers", "matters"))
    )
    for line in (Path(__file__).parents[1] / "data/calls64.jsonl").read_text().splitlines()
)

_MANIFEST = "kind: ConfigMap\ndata:\n" + "\n".join(f"  key-{n:03}: value" for n in range(150))
LONG = RealisticCall("kubectl_apply", {"manifest": _MANIFEST}, [], ["kind: ConfigMap"])
"""One that nobody can read on a screen, of 2,725 characters."""


@asynccontextmanager
async def all_asked(calls: Sequence[RealisticCall] = REALISTIC) -> AsyncIterator[Stage]:
    """A stage on which all of the calls wait, each asked by an agent of its own."""
    async with AsyncExitStack() as stack:
        scene = await stack.enter_async_context(stage(0))
        for number, one in enumerate(calls):
            run = RunRef(agent(number), f"session-{number}")
            opened = Gate.open(scene.gate.backend, run=run, folder=_FOLDER, where=_WHERE)
            gate = await stack.enter_async_context(opened)
            call = ToolCall(one.tool, one.arguments, f"call-{number}")
            await gate.submit(call, description=_REASON)
        yield scene


def agent(number: int) -> str:
    """The agent that asks for one of the calls; by it its card is found."""
    return f"agent-{number:02}"


@asynccontextmanager
async def page_with_all(
    opened: Browser, scene: Stage, width: int, count: int = len(REALISTIC)
) -> AsyncIterator[Page]:
    """The page of the playground with all cards laid out, on a screen of this width."""
    page = await opened.new_page(
        viewport={"width": width, "height": SCREEN}, locale="en-GB", timezone_id="UTC"
    )
    await page.goto(scene.playground.url)
    try:
        await page.evaluate(_ADOPT, _LAID_OUT)
        await expect(page.locator("article[data-message]")).to_have_count(2 * count)
        yield page
    finally:
        await page.close()


async def looks(
    page: Page, platform: str, calls: Sequence[RealisticCall] = REALISTIC
) -> list[Look]:
    """What is to be seen of the card of each call, in their order."""
    wanted = [[agent(number), one.tool, HOST, *one.matters] for number, one in enumerate(REALISTIC)]
    return [Look(**look) for look in await page.evaluate(_LOOK, [platform, wanted])]
