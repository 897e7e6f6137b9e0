"""How the demo tells what happens."""

from collections.abc import Callable

Say = Callable[[str], None]
