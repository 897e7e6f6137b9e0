"""Doors for agent frameworks: Sayso in front of the tools, in the hook the framework has for that.

One module for each framework, named after it, with an extra of the same name. What they share is
in ``calls``, ``kept`` and ``used``; they never import one another, and nothing else imports them.
How a call is decided does not belong here: that is the handle's.
"""

from __future__ import annotations


def missing(framework: str, error: ImportError, *requirements: str) -> ImportError:
    """The error of a door whose framework cannot be imported: what to install, in one line."""
    packages = " ".join(f"'{requirement}'" for requirement in requirements)
    return ImportError(
        f"{framework} is missing or does not fit ({error}): pip install {packages}",
        name=error.name,
    )
