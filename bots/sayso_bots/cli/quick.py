"""What ``sayso ask`` does first: ask the helper, which knows at once what needs nobody.

Loads next to nothing: it is part of each start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from sayso_bots.resident.client import ask_helper

# A store that answers, answers at once: whatever takes longer is waited for and told elsewhere.
_SECONDS = 5.0


def quick(words: Sequence[str], env: Mapping[str, str]) -> int | None:
    """Print the verdict that needs nobody; its exit code, None where the command must go on."""
    if any(word == "-" or word.endswith("=-") for word in words):
        return None  # arguments may come from stdin, which only this process can read
    try:
        said = ask_helper(words, env, seconds=_SECONDS)
        if said is None:
            return None
        code, out = said.get("code"), said.get("out")
        if type(code) is not int or not isinstance(out, str):
            return None
        if sys.stdout is not None:  # closed by whoever started us: only the exit code is wanted
            sys.stdout.write(out)
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return _unsaid(error)
    return code


def _unsaid(error: OSError) -> int:
    """A verdict that nobody can read is no yes; whose reader has gone needs no words either."""
    if not isinstance(error, BrokenPipeError):
        print(f"sayso: {error}", file=sys.stderr)
    # Python would try to write it once more at its end, and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 1
