"""Paths that lead out of the project or run by themselves later, and names of production."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

_LONGEST_NAME = 300
_PRODUCTION = re.compile(
    r"(?<![A-Za-z0-9])(?<!(?:non|pre|not)[-_.])(?:prod|production|prd|produktion)[0-9]{0,3}"
    r"(?![A-Za-z0-9])|(?<=[a-z0-9])(?:Prod|Production)(?![a-z])",
    re.IGNORECASE,
)
_LIVE_KEYS = re.compile(r"\b[spr]k_live_")


def is_production(text: str) -> bool:
    """Return True if a short value names production; a text of several words talks about it."""
    if len(text) > _LONGEST_NAME or any(map(str.isspace, text)):
        return False
    return bool(_PRODUCTION.search(text) or _LIVE_KEYS.search(text))


_LONGEST = 4_096
_ANYBODYS = re.compile(r"/(?:var/)?tmp/|/dev/(?:null|stdout|stderr|tty|fd)(?:/|\Z)")

DISK = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md)[a-z0-9/]*")
"""A disk itself."""

_SYSTEM = re.compile(
    r"/(?:bin|boot|dev|etc|lib\w*|opt|proc|root|run|sbin|srv|sys|usr|var|Applications|Library"
    r"|System|Windows|private/etc)?(?:/|\Z)"
)
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_HOME = re.compile(r"~|\$HOME\b|\$\{HOME\}|\$USERPROFILE\b|%USERPROFILE%", re.IGNORECASE)
_RUN_LATER = re.compile(
    r"(?:^|/)(?:\.git/hooks/|\.husky/|\.github/workflows/|\.gitlab-ci\.yml\Z|Jenkinsfile\Z|\.circleci/"
    r"|cron(?:tab|\.[a-z]+)(?:/|\Z)|systemd/|LaunchAgents/|LaunchDaemons/|init\.d/|rc\.local\Z"
    r"|authorized_keys\Z|\.(?:ba|z|k|c)?sh(?:rc|env)\Z|\.(?:bash_)?profile\Z|\.zprofile\Z|\.bash_log(?:in|out)\Z"
    r"|\.config/autostart/|profile\.d/|\.envrc\Z|\.vscode/tasks\.json\Z|\.claude/settings[\w.]*json\Z)"
)


@dataclass(frozen=True, slots=True)
class Root:
    """Where relative paths begin, and the project that they should stay in, where it is known.

    ``left`` says that a line has gone elsewhere.
    """

    folder: str = ""
    project: str = ""
    left: bool = False

    @property
    def within(self) -> str:
        """The folder that is not to be left."""
        return (self.project or self.folder).rstrip("/")


def is_outside(path: str, root: Root) -> bool:
    """Whether a path plainly leads out of the project; of a system's own it does in any case."""
    if not path or len(path) > _LONGEST or path == "-":
        return False
    if _HOME.match(path) or (_WINDOWS.match(path) and not root.within.startswith(path[:2])):
        return True
    if path.startswith("/"):
        whole = posixpath.normpath(path)
        if _ANYBODYS.match(f"{whole}/"):
            return False
        if root.within:
            return not _is_below(whole, root.within)
        return _SYSTEM.match(whole) is not None
    if root.left:
        return True
    begins = root.folder or "/a"
    whole = posixpath.normpath(f"{begins}/{path}")
    return not _is_below(whole, root.within or "/a")


def is_run_later(path: str) -> bool:
    """Return True if what is written there is run by others, without being asked about."""
    return len(path) <= _LONGEST and _RUN_LATER.search(path) is not None


def _is_below(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")
