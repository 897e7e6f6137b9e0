"""``sayso hook AGENT``: one event in, one answer out, and no yes because something failed.

Agents run the tool after every exit code but 0 and 2, and after 0 with anything but an answer in
JSON; Codex also after 2 without words. So what goes wrong here, at any moment, ends in a denial or
in exit code 2 with words. What could fail to load is loaded where that is a denial, too.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

from sayso_bots.hook.agents import (
    DEFAULT_SECONDS,
    MARGIN_SECONDS,
    MAX_BYTES,
    SIGNALS,
    TELLING_SECONDS,
    Answer,
    Answered,
    HookAgent,
    Reply,
)
from sayso_bots.hook.events import Ran, denied, is_answer, read_event, read_ran
from sayso_bots.hook.noted import note, take
from sayso_bots.strict_json import MalformedMessageError

BLOCKED = 2
"""The exit code that stops a call."""

_SHELL_SECONDS = 5.0


class StoppedError(BaseException):
    """One of the signals came."""


def hooked(agent: HookAgent, argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Answer the event on stdin; 0 with an answer on stdout, or 2, which stops the call as well."""
    try:
        out = _taken_stdout()
        name = None
        try:
            ends_at = _begin(argv)
            text = _stdin()
            if (ran := read_ran(text, agent)) is not None:
                return _tell(agent, ran, argv, env, out)
            event = read_event(text, agent)
            name = event.name
            said = _answer(_Asked(agent, text, name, argv, env, ends_at, out))
            if said.was_asked and event.key:
                note(env, agent.key, event.session, event.call_id, event.key)
            answer = said.answer
        except BaseException as error:  # whatever it is, the call must not run
            _deafen()
            why = f"Sayso could not get an answer, so the call did not run: {_why(error)}"
            if name is None or isinstance(error, BrokenPipeError):
                _say(why)
                return BLOCKED
            answer = denied(name, why)
        return _give(out, agent, answer, env)
    except BaseException as error:  # also a signal while this was written
        _deafen()
        _say(type(error).__name__)
        return BLOCKED


@dataclass(frozen=True, slots=True)
class _Asked:
    agent: HookAgent
    text: str
    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    ends_at: float
    out: int


def _tell(agent: HookAgent, ran: Ran, argv: Sequence[str], env: Mapping[str, str], out: int) -> int:
    """Tell how a call went that a person was asked about, in a process that nobody waits for."""
    _deafen()
    key = take(env, agent.key, ran.session, ran.call_id)
    if not key or os.fork() > 0:
        return 0
    try:
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TELLING_SECONDS)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2, out):
            os.dup2(nowhere, number)
        from sayso_bots.cli.hook_event import told_here

        told_here(("hook", agent.key, *argv), env, ran, key)
    finally:
        os._exit(0)


def _answer(asked: _Asked) -> Answered:
    words = ("hook", asked.agent.key, *asked.argv)
    from sayso_bots.cli.hook_event import answered_here

    here = answered_here(
        words, asked.env, asked.text, ends_at=asked.ends_at, reader=asked.out, warn=_say
    )
    if not is_answer(here.answer, asked.name):
        raise TypeError("not an answer")
    return here


def _begin(argv: Sequence[str]) -> float:
    """Listen for signals, and set the alarm; when the time of the question ends."""
    for number in SIGNALS:
        signal.signal(number, _stop)
    seconds = _seconds(argv)
    signal.setitimer(signal.ITIMER_REAL, seconds + MARGIN_SECONDS)
    return time.monotonic() + seconds


def _stop(number: int, _frame: FrameType | None) -> None:
    late = number == signal.SIGALRM
    raise StoppedError("its time was over" if late else "it was stopped while it waited")


def _deafen() -> None:
    """From here on the answer is written, whatever comes."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN)
        except StoppedError:
            continue  # one more that came meanwhile
        return


def _seconds(argv: Sequence[str]) -> float:
    """What ``--timeout`` says; whether it makes sense is said by whoever reads all of it."""
    given = ""
    for word, following in zip(argv, [*argv[1:], ""], strict=False):
        if word == "--timeout":
            given = following
        elif word.startswith("--timeout="):
            given = word.partition("=")[2]
    if not given:
        return DEFAULT_SECONDS
    from sayso.durations import parse_duration

    try:
        return parse_duration(given).total_seconds()
    except ValueError:
        return DEFAULT_SECONDS


def _taken_stdout() -> int:
    """The file the answer goes to, by a number of its own: nothing else can be written to it."""
    # Never 2, which is free where stderr is closed: what anything says there would come first.
    out = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    try:
        os.dup2(2, 1)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            os.dup2(nowhere, number)
    return out


def _stdin() -> str:
    parts, length = [], 0
    while part := os.read(0, 1 << 20):
        parts.append(part)
        length += len(part)
        if length > MAX_BYTES:
            raise MalformedMessageError("too long")
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError:
        raise MalformedMessageError("not UTF-8") from None


def _give(out: int, agent: HookAgent, answer: Answer, env: Mapping[str, str]) -> int:
    _deafen()
    reply = agent.reply(answer)
    if agent.by_login_shell and reply.answer and _prints(env.get("SHELL") or "/bin/sh"):
        reply = Reply(
            None,
            (
                f"The arguments were changed, and {agent.title} would not read them: "
                "its login shell prints something before each hook. So the call did not run; make "
                "the shell's profile silent"
            ),
        )
    if reply.answer is None:
        _say(reply.words)
        return BLOCKED
    rest = json.dumps(reply.answer, allow_nan=False).encode() + b"\n"
    while rest:
        rest = rest[os.write(out, rest) :]
    return 0


def _prints(shell: str) -> bool:
    """Whether a login shell says anything by itself, or cannot be asked in time."""
    import subprocess  # loaded only where somebody has changed arguments

    try:
        done = subprocess.run(  # noqa: S603  the user's own
            (shell, "-lc", ":"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SHELL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return True
    return bool(done.stdout)


def _why(error: BaseException) -> str:
    if isinstance(error, MalformedMessageError):
        return f"what came in is not an event of a tool call ({error})"
    if isinstance(error, StoppedError):
        return str(error)
    return f"an error inside Sayso ({type(error).__name__})"


def _say(why: str) -> None:
    """With exit code 2, the model reads what stands on stderr."""
    try:
        os.write(2, f"{why}\n".encode("utf-8", "replace"))
    except OSError:
        return
