"""A duration in a section of the settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator

from sayso.durations import parse_duration

Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
"""Written as ``90s``, ``10m`` or ``1h30m``."""
