"""The command line itself: usage, bad input, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import Run

from sayso_bots.cli.parser import COMMANDS

A_SECRET = "xoxb-0123456789-of-a-test"
UNREACHABLE = {"SAYSO_STORE_URL": "redis://127.0.0.1:1/0"}


def test_it_tells_its_version(run: Run) -> None:
    done = run("--version")

    assert done.code == 0
    assert done.out.startswith("sayso ")


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (("ask",), "sayso: the following arguments are required: TOOL; see `sayso ask --help`\n"),
        (
            ("ask", "x", "--tmeout", "1m"),
            (
                "sayso: there is no option '--tmeout'; did you mean --timeout? "
                "See `sayso ask --help`\n"
            ),
        ),
        (("aks", "x"), "sayso: there is no command 'aks'; did you mean ask? See `sayso --help`\n"),
        (("zzz",), "sayso: there is no command 'zzz'; see `sayso --help`\n"),
        (
            ("webhook", "shwo"),
            "sayso: there is no action 'shwo'; did you mean show? See `sayso webhook --help`\n",
        ),
        (
            ("api", "token", "ci", "--zzz=a-secret"),
            "sayso: there is no option '--zzz'; see `sayso api token --help`\n",
        ),
        (
            ("serve", "--prot", "1"),
            "sayso: there is no option '--prot'; see `sayso serve --help`\n",
        ),
        (
            ("demo", "--prot", "1"),
            ("sayso: there is no option '--prot'; did you mean --port? See `sayso demo --help`\n"),
        ),
        (
            ("ask", "x", "--requested-by", "alice"),
            (
                "sayso: argument --requested-by: 'alice' is not an account; write "
                "platform:account, as in the approvers of a route; see `sayso ask --help`\n"
            ),
        ),
        (
            ("ask", "x", "--wait", "3"),
            "sayso: there is no option '--wait'; see `sayso ask --help`\n",
        ),
        (("hlep",), "sayso: there is no command 'hlep'; did you mean --help? See `sayso --help`\n"),
        (
            ("ask", "x", "service=api"),
            (
                "sayso: 'service=api' is one argument too many; write --arg service=api; "
                "see `sayso ask --help`\n"
            ),
        ),
        (
            ("ask", "x", "--arg", "service", "the api"),
            (
                "sayso: 'the api' is one argument too many; write --arg 'service=the api'; "
                "see `sayso ask --help`\n"
            ),
        ),
        (
            ("ask", "x", "y"),
            "sayso: 'y' is one argument too many; see `sayso ask --help`\n",
        ),
        (
            ("serve", "--log-format", "xml"),
            (
                "sayso: argument --log-format: 'xml' is not one of text, json; "
                "see `sayso serve --help`\n"
            ),
        ),
        (
            ("demo", "--port", "http"),
            (
                "sayso: argument --port: 'http' is not a port from 0 to 65535; "
                "see `sayso demo --help`\n"
            ),
        ),
        (
            ("ask", "x", "--timeout", "10"),
            "sayso: --timeout '10' is not a duration: 10 has no unit, write 10s or 10m\n",
        ),
        (
            ("ask", "x", "--arg", "command"),
            "sayso: --arg 'command': write NAME=VALUE, or NAME:=JSON\n",
        ),
        (("ask", "x", "--arg", "=ls"), "sayso: --arg '=ls': write NAME=VALUE, or NAME:=JSON\n"),
        (
            ("ask", "x", "--arg", "n:=one"),
            "sayso: --arg n: one is not JSON; write n=one for text, n:=… for JSON\n",
        ),
        (
            ("ask", "x", "--arg", "n:="),
            "sayso: --arg n: nothing is not JSON; write n= for text, n:=… for JSON\n",
        ),
        (
            ("ask", "x", "--arg", f"n:={A_SECRET}"),
            "sayso: --arg n: the value is not JSON; write n=… for text, n:=… for JSON\n",
        ),
        (
            ("ask", "x", "--arg", "n:=[1,]"),
            "sayso: --arg n is not JSON: Expecting value: line 1 column 4 (char 3)\n",
        ),
        (
            ("ask", "x", "--arg", "a=1", "--arg", "a=2"),
            "sayso: the argument 'a' is given twice with --arg; give it once\n",
        ),
        (
            ("ask", "x", "--arguments", '{"a": 1}', "--arg", "a=2"),
            "sayso: the argument 'a' is given in --arguments and with --arg; give it once\n",
        ),
        (
            ("ask", "x", "--arguments", "[1]"),
            'sayso: --arguments: write a JSON object such as {"command": "ls"}\n',
        ),
        (
            ("ask", "x", "--arguments", '{"a": 1, "a": 2}'),
            "sayso: --arguments is not JSON: an object has a name twice\n",
        ),
        (
            ("ask", "x", "--arg", "n:=NaN"),
            "sayso: --arg n: NaN is not JSON; write n=NaN for text, n:=… for JSON\n",
        ),
        (("ask", " "), "sayso: TOOL is empty; name the tool that is asked about\n"),
        (("ask", "x\udcff"), "sayso: the command line is not valid UTF-8\n"),
        (
            ("ask", "x", "--store", "memory://"),
            (
                "sayso: --store is memory://, which nobody outside this process can see; "
                "use the Redis of `sayso serve`\n"
            ),
        ),
        (
            ("pending", "--store", "memory://"),
            (
                "sayso: --store is memory://, which lives inside another process; "
                "this command needs Redis\n"
            ),
        ),
        (
            ("serve", "--config", "missing.toml"),
            "sayso: missing.toml: no such file; name another one with --config\n",
        ),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_do(
    argv: tuple[str, ...], line: str, run: Run
) -> None:
    done = run(*argv)

    assert (done.code, done.out, done.err) == (2, "", line)


@pytest.mark.parametrize(
    ("argv", "usage"),
    [
        ((), "usage: sayso [-h] [--version] COMMAND"),
        (("webhook",), "usage: sayso webhook [-h] ACTION"),
        (("api",), "usage: sayso api [-h] ACTION"),
    ],
)
def test_without_a_command_the_help_is_printed_and_nothing_is_approved(
    argv: tuple[str, ...], usage: str, run: Run
) -> None:
    done = run(*argv)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(usage)


@pytest.mark.parametrize("tool", ["-h", "--help", "--hel", "--version", "--json", "-q", "--"])
def test_a_tool_that_reads_like_an_option_is_never_approved(tool: str, run: Run) -> None:
    assert run("ask", tool, "--arg", "command=rm").code == 2


def test_every_command_explains_itself(run: Run) -> None:
    for name, text in COMMANDS.items():
        done = run(name, "--help")

        assert (done.code, done.err) == (2 if name == "ask" else 0, "")
        assert f"{text[0].upper()}{text[1:]}." in " ".join(done.out.split())


@pytest.mark.parametrize(
    "argv", [("ask", "x", "--timeout", "1s"), ("pending",), ("show", "x"), ("cancel", "x")]
)
def test_a_store_that_is_away_is_named_with_its_setting(argv: tuple[str, ...], run: Run) -> None:
    done = run(*argv, env=UNREACHABLE)

    assert done.code == 4
    assert done.out == ""
    assert done.err.startswith("sayso: SAYSO_STORE_URL: no Redis answers at 127.0.0.1:1;")
    assert "start one, or correct the address" in done.err
    assert done.err.count("\n") == 1


def test_a_deny_rule_answers_without_a_store_and_an_allow_rule_does_not(run: Run) -> None:
    policy = '[policy]\nallow = [{ tool = "read" }]\ndeny = [{ tool = "bash" }]\n'

    allowed = run("ask", "read", "--timeout", "1s", env=UNREACHABLE, toml=policy)
    denied = run("ask", "bash", env=UNREACHABLE, toml=policy)

    # An *always deny* that somebody stored comes before the rule, so it must be looked for.
    assert (allowed.code, allowed.out) == (4, "")
    assert "nothing was approved" in allowed.err
    assert (denied.code, denied.out) == (1, "denied: denied by deny rule 1\n")


def test_mistakes_in_other_sections_do_not_keep_a_machine_from_asking(
    run: Run, store_url: str
) -> None:
    toml = (
        '[slack]\nbot_token = "xoxb-of-a-test"\n[route]\nto = 1\n[people.x]\nage = 3\n'
        '[policy]\ndefault = "allow"\n'
    )

    assert run("ask", "x", toml=toml, env={"SAYSO_STORE_URL": store_url}).code == 0


def test_a_mistake_in_the_policy_keeps_a_machine_from_asking(run: Run) -> None:
    done = run("ask", "x", toml='[policy]\ndefault = "alow"\n')

    assert (done.code, done.err) == (
        2,
        "sayso: sayso.toml line 2: policy.default must be 'ask' or 'allow', not 'alow'\n",
    )


def test_a_file_that_is_no_toml_keeps_a_machine_from_asking(run: Run) -> None:
    assert run("ask", "x", toml="[policy").code == 2


def test_without_a_timeout_a_question_waits_as_long_as_its_route_says(
    run: Run, store_url: str
) -> None:
    toml = """
        [[route]]
        agent = "deploy-*"
        to = ["slack:C0OPS"]
        timeout = "0.2s"
    """
    done = run("ask", "x", "--agent", "deploy-bot", toml=toml, env={"SAYSO_STORE_URL": store_url})

    assert (done.code, done.out) == (3, "expired\n")
    assert done.err.endswith("\nsayso: expired: nobody answered in time\n")


def test_arguments_can_be_read_from_another_command(tmp_path: Path, store_url: str) -> None:
    (tmp_path / "sayso.toml").write_text('[policy]\ndefault = "allow"\n')
    argv = ["ask", "x", "--arguments", "-", "--arg", "c=over", "--arg", "n:=[1]", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "sayso_bots", *argv],
        input='{"a": "two\\nlines", "b": "under"}',
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "SAYSO_CONFIG": "sayso.toml",
            "SAYSO_STORE_URL": store_url,
        },
        capture_output=True,
        text=True,
        check=True,
    )

    verdict = json.loads(done.stdout)
    assert verdict["arguments"] == {"a": "two\nlines", "b": "under", "c": "over", "n": [1]}
    assert verdict["requestId"] is None
    assert verdict["decidedLine"] == "default"


def test_arguments_from_an_empty_stdin_are_called_that(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sayso_bots", "ask", "x", "--arguments", "-"],
        input="\n",
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "sayso: --arguments -: stdin was empty; write a JSON object to it\n"


def test_json_on_a_terminal_cannot_act(run: Run, store_url: str) -> None:
    toml, env = '[policy]\ndefault = "allow"\n', {"SAYSO_STORE_URL": store_url}

    done = run("ask", "x\u202e\x1b", "--json", toml=toml, env=env)

    assert done.out.isascii()
    assert "\x1b" not in done.out
    assert json.loads(done.out)["tool"] == "x\u202e\x1b"


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        ("| true; exit ${PIPESTATUS[0]}", 1, ""),
        (">&-", 0, ""),
        pytest.param(
            ">/dev/full",
            1,
            "sayso: [Errno 28] No space left on device\n",
            marks=pytest.mark.skipif(
                not Path("/dev/full").exists(), reason="only Linux has /dev/full"
            ),
        ),
    ],
)
def test_a_verdict_that_cannot_be_printed_is_no_traceback(
    redirection: str, code: int, said: str, tmp_path: Path, store_url: str
) -> None:
    (tmp_path / "sayso.toml").write_text('[policy]\ndefault = "allow"\n')
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m sayso_bots ask x {redirection}"],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "SAYSO_CONFIG": "sayso.toml",
            "SAYSO_STORE_URL": store_url,
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (code, said)


def test_the_package_can_be_run_as_a_module_without_settings_in_sight() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sayso_bots", "serve"],
        env={"PATH": os.environ["PATH"]},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        (
            "sayso: no platform is configured; set SLACK_BOT_TOKEN with SLACK_APP_TOKEN for Slack, "
            'TELEGRAM_BOT_TOKEN with telegram.mode = "polling" for Telegram, or both; '
            "docs/setup.md shows each step"
        ),
        (
            "sayso: there is no sayso.toml with a [[route]] here; name the file with --config, "
            "or write one as in docs/setup.md"
        ),
    ]
