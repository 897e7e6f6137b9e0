"""Where progress is shown: a live line on a terminal, plain lines or JSON elsewhere, or nothing."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import TextIO

from sayso.durations import duration_text
from sayso.text.visible import shortened, visible
from sayso_bots.cli.progress import (
    Asked,
    Naming,
    Progress,
    Routed,
    Stands,
    as_json,
    in_words,
    people,
)

_CLEAR = "\r\x1b[K"


class Screen:
    """Shows what happens to one question on a stream, usually stderr."""

    def __init__(
        self, stream: TextIO, *, name: Naming, json_lines: bool = False, live: bool = False
    ) -> None:
        self._stream = stream
        self._name = name
        self._json = json_lines
        self._live = live and not json_lines
        self._places: list[str] = []
        self._approvers = ""
        self._line = ""

    def show(self, progress: Progress) -> None:
        """Say what happened; on a terminal, where it stands goes into the live line."""
        if isinstance(progress, Stands):
            self._places.append(progress.place)
        if isinstance(progress, Routed):
            self._approvers = people(progress.approvers)
        if self._json:
            self._print(json.dumps(as_json(progress)))
        elif not (self._live and isinstance(progress, (Routed, Stands))):
            hint = "; Ctrl-C withdraws it" if self._live and isinstance(progress, Asked) else ""
            self._print(f"sayso: {in_words(progress, self._name)}{hint}")
        if isinstance(progress, Asked):
            self.tick(progress.seconds_left)

    def tick(self, seconds_left: float) -> None:
        """Let the live line say how much time is left."""
        if not self._live:
            return
        left = duration_text(timedelta(seconds=max(round(seconds_left), 0)))
        parts = [f"{left} left"]
        if self._places:
            parts.append(f"in {', '.join(self._places)}")
        if self._approvers:
            parts.append(f"{self._approvers} may answer")
        # A line that is full would wrap at the ^C of Ctrl-C, and could not be taken back.
        width = max(shutil.get_terminal_size().columns - 3, 20)
        self._line = shortened(visible(" · ".join(parts), one_line=True), width)
        self._write(f"{_CLEAR}{self._line}")

    def close(self) -> None:
        """Leave the line to what comes next."""
        if self._line:
            self._line = ""
            self._write(_CLEAR)

    def _print(self, text: str) -> None:
        self._write(f"{_CLEAR}{text}\n{self._line}" if self._line else f"{text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def screen_on_stderr(
    env: Mapping[str, str], *, name: Naming, json_lines: bool, quiet: bool
) -> Screen | None:
    """The screen of a command; None where nothing is to be shown."""
    if quiet or sys.stderr is None:  # closed by whoever started us
        return None
    live = sys.stderr.isatty() and env.get("TERM") != "dumb"
    return Screen(sys.stderr, name=name, json_lines=json_lines, live=live)
