"""Loggers for Slack's libraries, whose own lines hold tokens, addresses and whole callbacks."""

from __future__ import annotations

import asyncio
import logging

from sayso.seldom import Seldom

_log = logging.getLogger(__name__)

_LEVELS = (logging.WARNING, logging.ERROR, logging.CRITICAL)


class _Muffler(logging.Handler):
    """Says that something happened, what kind and where, but never in the library's own words.

    The same again is counted: the library repeats itself every few seconds while Slack is away.
    """

    def __init__(self) -> None:
        super().__init__()
        self._said = {level: Seldom(_log, level=level) for level in _LEVELS}

    def emit(self, record: logging.LogRecord) -> None:
        kind = (
            record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "a problem"
        )
        level = max(level for level in _LEVELS if level <= max(record.levelno, logging.WARNING))
        line = f"Slack's library reports {kind} in {record.funcName}()"
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            _log.log(level, line)
        else:
            self._said[level].say(line)


def muffled() -> logging.Logger:
    """A logger of its own that passes on warnings and errors without their text."""
    # Not in the tree of loggers, so that nothing passes its handler by.
    logger = logging.Logger("sayso_slack.library", logging.WARNING)  # noqa: LOG001
    logger.addHandler(_Muffler())
    return logger


def silent() -> logging.Logger:
    """A logger that says nothing, for slack_bolt: it hands its base logger's state to others."""
    logger = logging.Logger("sayso_slack.incoming.bolt", logging.CRITICAL)  # noqa: LOG001  as above
    logger.disabled = True
    return logger
