"""A port for a server that listens later is nobody else's until then."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.ports import free_port

_GIVEN_TO_ANYBODY = Path("/proc/sys/net/ipv4/ip_local_port_range")

_TAKES_ALL = """
from support.ports import free_port
while True:
    try:
        print(free_port({!r}))
    except RuntimeError:
        break
"""


def _in_another_process(program: str) -> set[int]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return {int(port) for port in done.stdout.split()}


def test_two_processes_are_never_given_the_same_port() -> None:
    first = free_port()
    some = range(first - 20, first + 20)
    ours = {first, *(free_port(some) for _ in range(5))}
    theirs = _in_another_process(_TAKES_ALL.format(some))
    assert len(ours) == 6
    assert theirs
    assert not ours & theirs


def test_when_all_are_taken_it_says_so_instead_of_giving_one_twice() -> None:
    first = free_port()
    with pytest.raises(RuntimeError, match=f"all ports from {first} to {first} are taken"):
        free_port(range(first, first + 1))


def test_a_port_on_which_somebody_listens_is_not_given() -> None:
    (port,) = _in_another_process("from support.ports import free_port; print(free_port())")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", port))
        listening.listen()
        with pytest.raises(RuntimeError):
            free_port(range(port, port + 1))


@pytest.mark.skipif(not _GIVEN_TO_ANYBODY.exists(), reason="only Linux says which ports those are")
def test_no_connection_takes_it_in_between() -> None:
    first, last = map(int, _GIVEN_TO_ANYBODY.read_text().split())
    assert free_port() not in range(first, last + 1)
