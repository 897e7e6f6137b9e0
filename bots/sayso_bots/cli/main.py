"""The command line: ``sayso``."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from sayso_bots.cli.parser import Run

Env = Mapping[str, str]

_HELP = {"-h", "--help"}


def main(argv: Sequence[str] | None = None, env: Env = os.environ) -> int:
    """Run one command.

    0: done; 1: an error that can be explained, or *denied*; 2: wrong usage or
    settings; 3: ``ask`` got no answer; 4: the store cannot be reached; 130:
    stopped by Ctrl-C.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    if words[:1] == ["hook"] and _HELP.isdisjoint(words) and not _is_terminal():
        # Loaded first of all: until then, what fails is not a denial.
        from sayso_bots.cli.hooked import hooked
        from sayso_bots.hook.agents import AGENTS

        if (agent := AGENTS.get("".join(words[1:2]))) is not None:
            return hooked(agent, words[2:], env)
    return _main(words, env, owns_process=argv is None)


def _main(words: Sequence[str], env: Env, *, owns_process: bool) -> int:
    with _loading(owns_process=owns_process):
        # Imported late: what answers at once should not load a parser.
        from sayso_bots.cli.parser import sayso_parser

        try:
            args = sayso_parser().parse_args(words)
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else 2
    if not is_text(args):
        return _fail(ValueError("the command line is not valid UTF-8"), 2)
    # A line that is no object would be in the way of whoever reads the log as JSON.
    if getattr(args, "says_settings", False) and getattr(args, "log_format", "text") == "text":
        _say_settings(args.config, env)
    return _run_explained(args.run, args, env)


def _say_settings(config: str | None, env: Env) -> None:
    from pathlib import Path

    from sayso.text.visible import visible
    from sayso_bots.config.source import find_settings_file

    file = Path(find_settings_file(config, env)).absolute()
    if file.exists():
        print(f"sayso: settings: {visible(str(file), one_line=True)}", file=sys.stderr)


@contextmanager
def _loading(*, owns_process: bool) -> Iterator[None]:
    """While code is loaded nothing of it becomes garbage, which need not be looked for."""
    if not owns_process:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _is_terminal() -> bool:
    try:
        return os.isatty(0)
    except OSError:
        return False


def is_text(args: argparse.Namespace) -> bool:
    """Return whether all that was given, but for the name of a file, is valid text."""
    # A file may be called anything.
    given = {name: value for name, value in vars(args).items() if name != "config"}
    texts = [text for value in given.values() for text in _texts(value)]
    return not any("\ud800" <= character <= "\udfff" for text in texts for character in text)


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]


def _run_explained(run: Run, args: argparse.Namespace, env: Env) -> int:
    # Imported late: --help and --version should not load a validation library.
    from sayso.errors import ConfigError, InvalidCallError, SaysoError, StoreUnreachableError

    try:
        return _flush(run(args, env))
    except (ConfigError, InvalidCallError) as error:
        return _fail(error, 2)
    except StoreUnreachableError as error:
        return _fail(error, 4)
    except SaysoError as error:
        return _fail(error, 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone, as `| head` does; nothing is left to say.
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        return _fail(error, 1)


def _drop_output() -> None:
    # Python would try to write it once more at its end, and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush(code: int) -> int:
    if sys.stdout is not None:  # closed by whoever started us: only the exit code is wanted
        sys.stdout.flush()
    return code


def _fail(error: Exception, code: int) -> int:
    # Nothing that an error quotes acts on the terminal, nor stands as a line of its own.
    from sayso.text.visible import visible

    problems = getattr(error, "problems", None)
    said = problems if isinstance(problems, tuple) else (str(error),)
    for line in said:
        text = visible(line, one_line=True) or type(error).__name__
        print(f"sayso: {text}", file=sys.stderr)
    return code
