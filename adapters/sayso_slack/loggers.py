"""Loggers for Slack's libraries, whose own lines hold tokens, addresses and whole callbacks."""

from __future__ import annotations

import logging

_log = logging.getLogger(__name__)


class _Muffler(logging.Handler):
    """Says that something happened, what kind and where, but never in the library's own words."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = (
            record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "a problem"
        )
        _log.log(record.levelno, "Slack's library reports %s in %s()", kind, record.funcName)


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
