"""Kinds of question of one's own: modules that the bots load at their start."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from sayso.errors import ConfigError
from sayso.text.printable import printable
from sayso.text.secrets import holds_secret
from sayso_bots.config.platforms import FIX, PASTED, UNLOADABLE, describe_error


def load_kinds(modules: Sequence[str]) -> None:
    """Import the modules, so that the requests and responses they define can be read.

    Raises:
        ConfigError: one cannot be imported; the message names it and the fix.
    """
    for module in modules:
        if holds_secret(module):
            raise ConfigError(f"questions.types {PASTED}")
        try:
            importlib.import_module(module)
        except UNLOADABLE as error:
            # Nothing is chained: what the error says may hold a secret.
            told = f"cannot be imported ({describe_error(error)}); {FIX}"
            raise ConfigError(f"questions.types: {printable(module)} {told}") from None
