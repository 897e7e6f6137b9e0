"""Kinds of question of one's own: modules that the bots load at their start."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from sayso.errors import ConfigError


def load_kinds(modules: Sequence[str]) -> None:
    """Import the modules, so that the requests and responses they define can be read.

    Raises:
        ConfigError: one cannot be imported; the message names it and the fix.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise ConfigError(
                f"questions.types: {module} cannot be imported ({type(error).__name__}: {error}); "
                "install it beside the bots, or put its folder into PYTHONPATH"
            ) from error
