"""The formats of the log: text or JSON, one line a record whatever is in it."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal

from sayso.text.visible import visible

LogFormat = Literal["text", "json"]

LOG_FORMATS: tuple[LogFormat, ...] = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class TextFormatter(logging.Formatter):
    """One line a record: control characters in it are spelled out, tracebacks are indented."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  as logging calls it
        """The line of a record."""
        return visible(super().formatMessage(record), one_line=True)

    def formatException(self, ei: _Raised) -> str:  # noqa: N802  as logging calls it
        """A traceback no line of which looks like one of another record."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"    {visible(line, one_line=True)}" for line in lines)


class JsonFormatter(logging.Formatter):
    """One object a record: when, level, logger, message, and the fields of what happened."""

    def format(self, record: logging.LogRecord) -> str:
        """The object of a record, on one line."""
        at = datetime.fromtimestamp(record.created, UTC)
        said: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": getattr(record, "event", None) or record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps(said)


def set_up_logging(names: tuple[str, ...], *, written_as: LogFormat, level: str) -> None:
    """Write what these loggers say to stderr from this level on, and warnings of all others."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if written_as == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    for name in names:
        logging.getLogger(name).setLevel(level.upper())
