"""`sayso check` and `sayso webhook`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from support.commands import (
    PEOPLE,
    Done,
    Run,
    deliver_to,
    env_of,
)
from support.playing import a_playground

from sayso_playground import ALICE, Member, Playground, PlaygroundConfig, ServerError, UserGroup

HOOK = "http://127.0.0.1:9/telegram/webhook"
GOOD = f"""
{PEOPLE}
[[route]]
to = ["slack:C0OPS", "telegram:-1001234567890"]
approvers = ["alice", "slack:@oncall"]
"""


async def command(
    run: Run, playground: Playground, *argv: str, toml: str = GOOD, **env: str
) -> Done:
    environment = {**env_of(playground), **env}
    return await asyncio.to_thread(run, *argv, env=environment, toml=toml)


async def test_everything_is_looked_at_and_fine(
    run: Run, playground: Playground, store_url: str
) -> None:
    await command(run, playground, "webhook", "set", HOOK)
    done = await command(run, playground, "check", SAYSO_STORE_URL=store_url)

    assert (done.code, done.err) == (0, "")
    lines = [line.split(maxsplit=2) for line in done.out.splitlines()]
    # The Redis of the tests keeps nothing on its disk.
    assert lines.pop(2) == [
        "warning",
        "store",
        (
            "Redis keeps nothing: a restart loses open questions and remembered rules; "
            "set appendonly yes"
        ),
    ]
    bots = lines.pop(2)
    assert bots == ["info", "bots", "no bots are running on this store; `sayso serve` starts them"]
    assert [line[0] for line in lines] == ["ok"] * 7 + ["info"] + ["ok"] * 3
    assert [line[1] for line in lines] == [
        "settings", "store", "slack", "telegram", "webhook", "place", "place",
        "routes", "approvers", "approvers", "approvers",
    ]  # fmt: skip
    assert "…@127.0.0.1" in lines[1][2]
    assert lines[2][2] == "acme (T0ACME) as @sayso, presses at POST /slack/events"
    assert lines[3][2] == "@sayso_bot, presses at POST /telegram/webhook"
    assert lines[4][2].startswith(f"{HOOK}, 0 updates waiting, updates: message")
    assert lines[5][2] == "slack:C0OPS — cards can be shown there"
    assert lines[7][2].endswith(": alice (slack:U0ALICE, telegram:4242), slack:@oncall")
    assert lines[8][2] == "slack:U0ALICE (alice) can answer"
    assert lines[9][2] == "telegram:4242 (alice) can answer"
    assert lines[10][2] == "slack:@oncall has 1 member"


async def test_an_approver_who_does_not_exist_is_a_line(
    run: Run, playground: Playground, store_url: str
) -> None:
    toml = (
        '[people.ghost]\nslack = "U0GHOST"\ntelegram = 999\n'
        '[[route]]\nto = ["slack:C0OPS", "telegram:-1001234567890"]\n'
        'approvers = ["ghost", "slack:U0SAYSO", "slack:U0ALICE", "telegram:4343"]\n'
    )
    await command(run, playground, "webhook", "set", HOOK)
    done = await command(run, playground, "check", toml=toml, SAYSO_STORE_URL=store_url)

    said = [line.split(maxsplit=2) for line in done.out.splitlines()]
    failed = {text for level, subject, text in said if (level, subject) == ("failed", "approvers")}
    assert done.code == 1
    assert len(failed) == 3
    assert (
        "slack:U0GHOST (ghost) cannot answer: users.info: user_not_found: check the user's id"
    ) in failed
    assert (
        "slack:U0SAYSO cannot answer: the account is a bot's, and only people press buttons"
    ) in failed
    assert (
        "telegram:999 (ghost) cannot answer: Telegram knows no such user in "
        "telegram:-1001234567890; check the number"
    ) in failed
    assert "ok       approvers  slack:U0ALICE can answer" in done.out
    assert "ok       approvers  telegram:4343 can answer" in done.out


async def test_a_route_where_people_approve_what_they_asked_for_is_told_of(
    run: Run, playground: Playground
) -> None:
    toml = f"{GOOD}self_approval = true\n"
    done = await command(run, playground, "check", toml=toml, SAYSO_STORE_URL="memory://")

    assert "slack:@oncall; they may approve what they asked for" in done.out


async def test_scopes_that_an_older_slack_app_was_not_granted_are_named(run: Run) -> None:
    async with a_playground(slack_scopes=("chat:write", "channels:read", "users:read")) as old:
        done = await command(run, old, "check", SAYSO_STORE_URL="memory://")
    async with a_playground(slack_scopes=("channels:read",)) as mute:
        failed = await command(run, mute, "check", SAYSO_STORE_URL="memory://")

    (line,) = [line for line in done.out.splitlines() if "granted" in line]
    assert line.startswith("info     slack      the app was not granted commands (")
    for scope in ("groups:read (", "dnd:read (", "usergroups:read ("):
        assert scope in line
    assert "users:read" not in line
    assert line.endswith("add them under OAuth & Permissions, then reinstall the app")
    assert "failed   slack      the app was not granted chat:write (" in failed.out


async def test_members_of_a_group_who_do_not_count_are_told_of(run: Run) -> None:
    guest = Member("Guest", "U0GUEST", 7, slack_is_restricted=True)
    config = PlaygroundConfig(
        members=(ALICE, guest),
        slack_usergroups=(
            UserGroup("S0ONCALL", "oncall", "On call", ("U0ALICE", "U0GUEST")),
            UserGroup("S0GUESTS", "guests", "Guests", ("U0GUEST",)),
        ),
    )
    toml = GOOD.replace('"slack:@oncall"', '"slack:@oncall", "slack:@guests"')
    async with Playground(config) as playground:
        done = await command(run, playground, "check", toml=toml, SAYSO_STORE_URL="memory://")

    others = "guests, bots, closed accounts, people from elsewhere"
    assert f"slack:@oncall has 2 members; 1 of them may not answer unless named: {others}" in (
        done.out
    )
    warning = next(line for line in done.out.splitlines() if "slack:@guests has" in line)
    assert warning.startswith("warning")


async def test_what_the_platforms_do_not_tell_is_not_called_fine(
    run: Run, playground: Playground, store_url: str
) -> None:
    await command(run, playground, "webhook", "set", HOOK)
    for method in ("conversations.info", "users.info"):
        playground.slack.misbehave(method, ServerError(503), times=None)
    playground.telegram.misbehave("getChatMember", ServerError(503), times=None)

    done = await command(run, playground, "check", SAYSO_STORE_URL=store_url)

    said = [line.split(maxsplit=2) for line in done.out.splitlines()]
    unknown = [text for level, subject, text in said if (level, subject) == ("info", "place")]
    nobody = [text for level, subject, text in said if (level, subject) == ("info", "approvers")]
    assert done.code == 0
    assert [text.partition(" — ")[0] for text in unknown] == [
        "slack:C0OPS",
        "telegram:-1001234567890",
    ]
    assert [text.partition(" (")[0] for text in nobody[:2]] == ["slack:U0ALICE", "telegram:4242"]
    assert nobody[2].startswith("who is in slack:@oncall cannot be looked up, nobody in it may")
    assert "cards can be shown there\n" not in done.out
    assert "can answer\n" not in done.out


async def test_a_module_with_kinds_of_question_that_cannot_be_loaded_is_a_line(
    run: Run, playground: Playground, store_url: str
) -> None:
    toml = GOOD + '[questions]\ntypes = ["json", "no_such_module"]\n'

    done = await command(run, playground, "check", toml=toml, SAYSO_STORE_URL=store_url)

    lines = [line.split(maxsplit=2) for line in done.out.splitlines()]
    said = [line for line in lines if line[1] == "questions"]
    assert done.code == 1
    assert [line[0] for line in said] == ["ok", "failed"]
    assert said[0][2] == "json is loaded"
    assert "no_such_module cannot be imported" in said[1][2]


async def test_dangerous_rules_of_the_policy_are_a_warning_each(
    run: Run, playground: Playground, store_url: str
) -> None:
    toml = (
        GOOD
        + "[policy]\n"
        + 'allow = [{ tool = "bash", params = { command = "ls*" } }, { tool = "read" }]\n'
        + 'deny = [{ tool = "read" }]\n'
    )

    done = await command(run, playground, "check", toml=toml, SAYSO_STORE_URL=store_url)
    quiet = await command(
        run,
        playground,
        "check",
        toml=GOOD + '[policy]\ndeny = [{ tool = "read" }]\n',
        SAYSO_STORE_URL=store_url,
    )

    said = [line for line in done.out.splitlines() if " policy " in line]
    assert all(line.startswith("warning") for line in said)
    assert any("allow rule 1, command 'ls*'" in line for line in said)
    assert any("allow rule 2 never applies" in line for line in said)
    assert "policy     1 rule without surprises" in quiet.out


async def test_each_failure_is_a_line_and_the_others_are_still_looked_at(
    run: Run, playground: Playground
) -> None:
    toml = '[[route]]\nto = ["slack:C0RANDOM", "telegram:-1009"]\napprovers = ["slack:@nobody"]\n'
    away = "redis://127.0.0.1:1"
    done = await command(run, playground, "check", toml=toml, SAYSO_STORE_URL=away)

    assert done.code == 1
    failed = [line.split(maxsplit=2)[1:] for line in done.out.splitlines() if "failed" in line]
    assert [subject for subject, _ in failed] == [
        "store", "webhook", "place", "place", "approvers"
    ]  # fmt: skip
    assert failed[1][1].startswith("none is registered; `sayso webhook set")
    assert "/invite @sayso" in failed[2][1]
    assert "add the bot to the chat" in failed[3][1]
    assert "there is no user group @nobody" in failed[4][1]
    assert "warning  approvers  none of the approvers of route 1 has a Telegram" in done.out


async def test_a_route_where_nobody_may_approve_anything_is_a_failure(
    run: Run, playground: Playground, store_url: str
) -> None:
    await command(run, playground, "webhook", "set", HOOK)
    toml = '[[route]]\nto = ["telegram:-1001234567890"]\napprovers = ["slack:U0ALICE"]\n'
    done = await command(run, playground, "check", toml=toml, SAYSO_STORE_URL=store_url)

    failed = [line for line in done.out.splitlines() if line.startswith("failed")]
    assert done.code == 1
    assert len(failed) == 1
    assert "none of the approvers of route 1 has a Telegram account" in failed[0]
    assert "info     slack      SLACK_BOT_TOKEN is set, but no route leads to Slack" in done.out


async def test_a_wrong_token_is_a_line(run: Run, playground: Playground) -> None:
    done = await command(
        run,
        playground,
        "check",
        "--json",
        SLACK_BOT_TOKEN="xoxb-wrong-of-a-test",
        SAYSO_STORE_URL="memory://",
    )

    found = [json.loads(line) for line in done.out.splitlines()]
    (slack,) = [finding for finding in found if finding["subject"] == "slack"]
    assert done.code == 1
    assert slack["level"] == "failed"
    assert "SLACK_BOT_TOKEN is not valid" in slack["text"]
    assert "of-a-test" not in done.out
    assert any(finding["level"] == "warning" for finding in found if finding["subject"] == "store")


def test_wrong_settings_are_lines(run: Run) -> None:
    done = run("check", toml="[slack]\nmoed = 1\n[[route]]\nto = []\n")

    assert (done.code, done.err) == (1, "")
    first, *problems = done.out.splitlines()
    assert first.startswith("info     settings   in /")
    assert all(line.startswith("failed   settings") for line in problems)
    assert "slack.moed is not a setting; did you mean mode?" in done.out


async def test_a_webhook_is_set_shown_and_deleted(run: Run, playground: Playground) -> None:
    nothing = await command(run, playground, "webhook", "show", toml="")
    register = await command(run, playground, "webhook", "set", HOOK, toml="")
    shown = await command(run, playground, "webhook", "show", "--json", toml="")
    deleted = await command(run, playground, "webhook", "delete", toml="")

    assert (nothing.code, nothing.out) == (1, "no webhook is registered\n")
    assert "`sayso webhook set https://…/telegram/webhook` does it" in nothing.err
    assert (register.code, register.out.splitlines()[0]) == (0, f"webhook:  {HOOK}")
    state = json.loads(shown.out)
    assert set(state) == {"url", "waiting", "lastError", "lastErrorAt", "kinds"}
    assert (state["url"], state["waiting"], state["lastError"]) == (HOOK, 0, None)
    assert "callback_query" in state["kinds"]
    assert register.out.splitlines()[1].startswith("kinds:    message, ")
    assert (deleted.code, deleted.out) == (0, "no webhook is registered\n")


async def test_a_webhook_without_the_edits_of_messages_is_a_line(
    run: Run, playground: Playground
) -> None:
    await command(run, playground, "webhook", "set", HOOK, toml="")
    playground.telegram.updates.allowed.remove("my_chat_member")

    done = await command(run, playground, "check", "--json")

    found = [json.loads(line) for line in done.out.splitlines()]
    (hook,) = [finding for finding in found if finding["subject"] == "webhook"]
    assert hook["level"] == "failed"
    assert "repeat `sayso webhook set`" in hook["text"]


async def test_a_webhook_needs_its_secret(run: Run, playground: Playground) -> None:
    done = await command(
        run, playground, "webhook", "set", HOOK, toml="", TELEGRAM_WEBHOOK_SECRET=""
    )

    assert done.code == 2
    assert done.err.startswith("sayso: TELEGRAM_WEBHOOK_SECRET is not set")
    assert "openssl rand -hex 32" in done.err


async def test_no_webhook_is_set_while_the_bots_poll(run: Run, playground: Playground) -> None:
    polling = {"SAYSO_TELEGRAM_MODE": "polling"}
    refused = await command(run, playground, "webhook", "set", HOOK, toml="", **polling)
    shown = await command(run, playground, "webhook", "show", toml="", **polling)
    as_json = await command(run, playground, "webhook", "show", "--json", toml="", **polling)

    assert (refused.code, refused.out) == (2, "")
    assert 'telegram.mode is "polling"' in refused.err
    assert 'set telegram.mode = "webhook" (or SAYSO_TELEGRAM_MODE)' in refused.err
    assert not playground.telegram.updates.url
    assert (shown.code, shown.out) == (0, "no webhook is registered\n")
    assert shown.err == "sayso: none is registered, as polling needs it\n"
    state = json.loads(as_json.out)
    assert (as_json.code, state["url"], state["lastError"]) == (0, None, None)


async def test_a_path_that_the_bots_do_not_serve_is_a_warning(
    run: Run, playground: Playground
) -> None:
    elsewhere = "https://bots.example/wrong"
    register = await command(run, playground, "webhook", "set", elsewhere, toml="")
    done = await command(run, playground, "check", "--json")

    found = [json.loads(line) for line in done.out.splitlines()]
    (hook,) = [finding for finding in found if finding["subject"] == "webhook"]
    assert register.code == 0
    assert "right only where a proxy rewrites it" in register.err
    assert hook["level"] == "warning"
    assert "right only where a proxy rewrites it" in hook["text"]


async def test_a_webhook_without_tls_on_the_internet_is_refused(
    run: Run, playground: Playground
) -> None:
    done = await command(run, playground, "webhook", "set", "http://bots.example/x", toml="")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sayso: the webhook's URL must begin with https://")
    assert not playground.telegram.updates.url


async def test_polling_and_a_webhook_exclude_each_other(run: Run, playground: Playground) -> None:
    deliver_to(playground, "http://127.0.0.1:9")
    done = await command(
        run,
        playground,
        "check",
        SAYSO_TELEGRAM_MODE="polling",
        SAYSO_STORE_URL="memory://",
    )

    assert done.code == 1
    assert "is registered, so polling gets nothing; `sayso webhook delete`" in done.out


async def test_lines_that_nobody_reads_any_more_are_no_traceback(
    playground: Playground, store_url: str, tmp_path: Path
) -> None:
    (tmp_path / "sayso.toml").write_text(GOOD)
    environment = {**env_of(playground), "SAYSO_STORE_URL": store_url, "PATH": os.environ["PATH"]}
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-c", f"{sys.executable} -m sayso_bots check | head -1"),
        cwd=tmp_path,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )

    out, err = await shell.communicate()

    assert out.startswith(b"ok       settings")
    assert err == b""
