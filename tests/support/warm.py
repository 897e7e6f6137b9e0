"""A process that has loaded what our commands load, and becomes one whenever it is asked.

``support.forked`` starts it and says what it is asked: on a socket that it inherits it gets three
files and a connection, which says the words, the environment and the folder of a command. A copy
of the process becomes that command. The connection then says its process, and how it has ended.

It ends when nobody is left who could ask.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

_PACKAGES = ("sayso_bots", "sayso_slack", "sayso_telegram")
_PROGRAM = "sayso_bots"


def main(number: int) -> None:
    asked = socket.socket(fileno=number)
    gc.disable()
    _load()
    gc.freeze()
    if _is_a_copy(asked):
        gc.enable()
        try:
            runpy.run_module(_PROGRAM, run_name="__main__", alter_sys=True)  # as `python -m` does
        except SystemExit as ended:
            _end(ended)


def _load() -> None:
    """Load what commands of ours load; they say themselves what they miss."""
    for package in _PACKAGES:
        with suppress(ImportError):
            for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
                if not found.name.endswith(".__main__"):
                    with suppress(ImportError):
                        import_module(found.name)


def _is_a_copy(asked: socket.socket) -> bool:
    """Make copies until nobody is left who asks; in a copy, yes at once."""
    heard, rings = socket.socketpair()
    for end in (heard, rings):
        end.setblocking(False)
    before = signal.set_wakeup_fd(rings.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([asked, sys.stdin, heard], [], [])
        if sys.stdin in ready:
            return False
        if heard in ready:
            heard.recv(4096)
            _tell_ends(running)
        if asked in ready:
            _, files, _, _ = socket.recv_fds(asked, 1, 4)
            connection = socket.socket(fileno=files.pop())
            if process := os.fork():
                running[process] = connection
                for file in files:
                    os.close(file)
                continue
            signal.set_wakeup_fd(before)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for one in (asked, heard, rings, *running.values()):
                one.close()
            _become(files, connection)
            return True


def _tell_ends(running: dict[int, socket.socket]) -> None:
    while running:
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        with running.pop(process) as connection, suppress(OSError):  # perhaps nobody wants to know
            connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(files: list[int], connection: socket.socket) -> None:
    """Have what a process of one's own has; whoever asked may send signals from now on."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    with connection, connection.makefile("rb") as said:
        words, env, folder = json.loads(said.readline())
        os.chdir(folder)
        locale = {name: os.environ[name] for name in ("LC_CTYPE",) if name in os.environ}
        os.environ.clear()
        os.environ.update({**locale, **env})
        sys.argv[1:] = words
        connection.sendall(b"%d\n" % os.getpid())


def _end(ended: SystemExit) -> NoReturn:
    """End as any process does, but for taking apart what it has loaded, which takes longest."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        raise ended from None  # let Python say what there is to say
    if not isinstance(ended.code, int):
        raise ended
    os._exit(ended.code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
