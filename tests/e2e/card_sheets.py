"""Sheets of the cards of 64 realistic calls, and how high they are: ``make cards``.

Needs what screenshots.py needs. A sheet shows each card as it is in one chat at one width; the
table is the one of docs/cards.md.
"""

from __future__ import annotations

import asyncio
import base64
import struct
import sys
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.async_api import Browser, Page
from support.browser import NO_CHROMIUM, browser, chromium
from support.realistic_calls import (
    DESK,
    LONG,
    PHONE,
    REALISTIC,
    SCREEN,
    agent,
    all_asked,
    looks,
    page_with_all,
)

SHEETS = Path(__file__).parents[2] / "docs" / "images" / "cards"
PLATFORMS = ("slack", "telegram")

_COLUMNS = {PHONE: 8, DESK: 5}
_PADDING = 16
_LAID_OUT = """(pictures) => {
  document.body.style.cssText = `margin:0;padding:8px;background:#fff;columns:${pictures.columns};`
    + "column-gap:16px;font:12px sans-serif;color:#545c67";
  for (const [label, source] of pictures.all) {
    const figure = document.createElement("figure");
    figure.style.cssText = "margin:0 0 16px;break-inside:avoid";
    const image = new Image();
    image.src = source;
    image.style.cssText = "display:block;width:100%";
    figure.append(label, image);
    document.body.append(figure);
  }
  return Promise.all([...document.images].map((image) => image.decode()));
}"""
# The colours that are most often there, and the nearest of them for each other one.
_IN_FEW_COLOURS = """async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const drawn = new OffscreenCanvas(image.width, image.height).getContext("2d");
  drawn.drawImage(image, 0, 0);
  const colours = new Uint32Array(
    drawn.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const one of colours) counts.set(one, (counts.get(one) || 0) + 1);
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([one]) => one);
  const parts = (one) => [one & 255, (one >> 8) & 255, (one >> 16) & 255];
  const known = palette.map(parts);
  const nearest = new Map([...counts.keys()].map((one) => {
    const wanted = parts(one);
    const far = (other) => other.reduce((sum, part, at) => sum + (part - wanted[at]) ** 2, 0);
    let best = 0;
    for (let at = 1; at < known.length; at++) if (far(known[at]) < far(known[best])) best = at;
    return [one, best];
  }));
  let text = "";
  for (let at = 0; at < colours.length; at += 32768) {
    const some = colours.subarray(at, at + 32768);
    text += String.fromCharCode(...Array.from(some, (one) => nearest.get(one)));
  }
  return [known.flat(), btoa(text)];
}"""


async def make_sheets(folder: Path) -> Mapping[tuple[str, int], Sequence[float]]:
    """Write a sheet for each chat and width; how high the cards on it are, a long one last."""
    folder.mkdir(parents=True, exist_ok=True)
    heights: dict[tuple[str, int], Sequence[float]] = {}
    calls = (*REALISTIC, LONG)
    async with all_asked(calls) as scene, browser() as opened:
        for width in (PHONE, DESK):
            async with page_with_all(opened, scene, width, len(calls)) as page:
                for platform in PLATFORMS:
                    seen = await looks(page, platform, calls)
                    heights[platform, width] = [look.height for look in seen]
                    pictures = [picture async for picture in _pictures(page, platform)]
                    await _sheet(opened, pictures, width, folder / f"{platform}-{width}.png")
    return heights


async def _pictures(page: Page, platform: str) -> AsyncIterator[bytes]:
    for number, _ in enumerate(REALISTIC):
        cards = page.locator(f"[data-platform={platform}] article[data-message]")
        yield await cards.filter(has_text=agent(number)).screenshot(animations="disabled")


async def _sheet(opened: Browser, pictures: Sequence[bytes], width: int, path: Path) -> None:
    columns = _COLUMNS[width]
    card = int.from_bytes(pictures[0][16:20], "big")  # a PNG says how wide it is
    labelled = [
        (f"{number} {one.tool}", _address(picture))
        for number, (one, picture) in enumerate(zip(REALISTIC, pictures, strict=True))
    ]
    page = await opened.new_page(viewport={"width": columns * (card + _PADDING), "height": SCREEN})
    try:
        await page.set_content("<!doctype html>")
        await page.evaluate(_LAID_OUT, {"columns": columns, "all": labelled})
        taken = await page.screenshot(full_page=True)
        palette, pixels = await page.evaluate(_IN_FEW_COLOURS, _address(taken))
        path.write_bytes(_png(taken, bytes(palette), base64.b64decode(pixels)))
    finally:
        await page.close()


def _address(picture: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _png(like: bytes, palette: bytes, pixels: bytes) -> bytes:
    """A PNG as large as another one, of one byte a pixel: so it takes a third of the room."""
    width, height = struct.unpack(">II", like[16:24])
    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, len(pixels), width))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return like[:8] + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def table(heights: Mapping[tuple[str, int], Sequence[float]]) -> str:
    """The heights in Markdown, a row for each chat and width."""
    rows = ["| chat, width | median | highest | the manifest |", "|---|---|---|---|"]
    for (platform, width), (*usual, long) in heights.items():
        rows.append(
            f"| {platform.title()}, {width:,} px"
            f" | {median(usual):,.0f} | {max(usual):,.0f} | {long:,.0f} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    if chromium() is None:
        sys.exit(NO_CHROMIUM)
    print(table(asyncio.run(make_sheets(Path(*sys.argv[1:2]) if sys.argv[1:] else SHEETS))))
