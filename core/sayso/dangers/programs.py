"""The table of programs and what is dangerous about them, reviewed row by row."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sayso.dangers import deeds, losses
from sayso.dangers.danger import Danger


@dataclass(frozen=True, slots=True)
class Row:
    """What makes a program dangerous: words after it, in this order, and one of the options.

    It is written as the program, the words, and behind ``|`` the options, if any. Others may
    stand between the words. An option without a dash is a part of an argument.
    """

    words: tuple[str, ...]
    options: tuple[str, ...]
    danger: Danger


def _rows() -> dict[str, tuple[Row, ...]]:
    found: dict[str, tuple[Row, ...]] = {}
    for danger, rows in (*losses.ROWS.items(), *deeds.ROWS.items()):
        for row in filter(None, map(str.strip, rows.splitlines())):
            said, _, options = row.partition("|")
            program, *words = said.split()
            made = Row(tuple(words), tuple(options.split()), danger)
            found[program] = (*found.get(program, ()), made)
    return found


ROWS = _rows()
"""By the name of the program."""

SHELLS = frozenset(
    re.findall(
        r"\S+",
        """
        sh bash zsh dash ksh fish ash busybox pwsh powershell cmd
        """,
    )
)
INTERPRETERS = frozenset(
    re.findall(
        r"\S+",
        """
        python python2 python3 node deno bun perl ruby php lua osascript
        """,
    )
)
FETCHERS = frozenset(
    re.findall(
        r"\S+",
        """
        curl wget fetch http https aria2c iwr irm invoke-webrequest
        """,
    )
)
"""What runs what it reads, and what fetches."""

NAMES_HOST = FETCHERS | frozenset(
    ["ping", "ssh", "telnet", "nc", "dig", "nslookup", "host", "ftp", "sftp"]
)
NAMES_HOST_BEFORE_COLON = frozenset(["scp", "rsync", "git"])
RUNS_PACKAGES = frozenset(["npx", "bunx", "pnpx", "uvx"])
"""Programs whose words name a host, those where it ends in a colon, and what runs packages."""

RUNS_OTHERS = (
    SHELLS
    | INTERPRETERS
    | frozenset(
        re.findall(
            r"\S+",
            """
        sudo doas su pkexec env nohup time timeout nice ionice stdbuf setsid command builtin exec
        xargs parallel watch strace ltrace unshare chroot flock ssh eval source . then do else if
        elif while until ! docker podman kubectl oc nsenter runas gosu script expect tmux screen
        uv poetry pipenv nix-shell conda npm entr caffeinate unbuffer find fd trap mise direnv
        systemd-run at
        """,
        )
    )
)
"""Programs, and words of the shell, after which another program may be named."""

DESTINATION_LAST = frozenset(["cp", "ln", "install", "rsync", "scp"])
EACH_A_DESTINATION = frozenset(
    re.findall(
        r"\S+",
        """
        rm rmdir unlink shred tee touch mkdir truncate chmod chown chgrp mv rimraf srm trash
        """,
    )
)
"""Programs whose last argument, or each of them, is what they write to."""

DESTINATION_OPTIONS = {
    "tar": ("-C", "--directory"),
    "unzip": ("-d",),
    "curl": ("-o", "--output", "--output-dir"),
    "wget": ("-O", "-P", "--output-document", "--directory-prefix"),
    "git": ("--git-dir", "--work-tree"),
    "cp": ("-t", "--target-directory"),
    "mv": ("-t", "--target-directory"),
}
"""Options that are followed by what is written to."""
