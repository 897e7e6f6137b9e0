"""``sayso aap``: credentials are made, listed and taken back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping

import pytest
from support.commands import Done, Run

from sayso.stores.connect import open_store
from sayso_bots.settings.tokens import token_hash

SECRET = "a secret of this test, which is long enough"
TOML = "[server]\nport = 9100\n\n[aap]\n"


@pytest.fixture
def aap(run: Run, store_url: str) -> Run:
    """``sayso aap`` with a store and the secret."""

    def running(*argv: str, env: Mapping[str, str] | None = None, toml: str = TOML) -> Done:
        own = {"SAYSO_STORE_URL": store_url, "SAYSO_AAP_SECRET": SECRET, **(env or {})}
        return run("aap", *argv, env=own, toml=toml)

    return running


def _token(done: Done) -> str:
    url, token = json.loads(f"[{done.out}]")
    assert url == "http://127.0.0.1:9100/aap"
    return str(token)


def test_an_instance_is_one_line_to_paste_and_each_has_a_token_of_its_own(aap: Run) -> None:
    first, second = aap("instance", "laptop"), aap("instance", "laptop", "--agent", "deploy bot")

    assert first.code == second.code == 0
    assert first.out.count("\n") == 1
    assert _token(first).startswith("sayso_")
    assert _token(first) != _token(second)
    assert "shown only now" in first.err
    assert _token(first) not in first.err


def test_the_list_says_who_asks_and_never_a_token(aap: Run) -> None:
    made = aap("instance", "laptop", "--agent", "deploy-bot", "--json")

    shown, written = aap("list"), aap("list", "--json")

    (one,) = json.loads(written.out)
    instance = json.loads(made.out)
    assert one["id"] == instance["id"]
    assert (one["name"], one["agent"], one["provisioner"]) == ("laptop", "deploy-bot", None)
    assert instance["id"] in shown.out
    assert "deploy-bot" in shown.out
    assert instance["token"] not in shown.out + written.out


def test_an_empty_list_says_how_to_make_one(aap: Run) -> None:
    assert "`sayso aap instance NAME` makes one" in aap("list").out
    assert json.loads(aap("list", "--json").out) == []


def test_a_revoked_instance_is_gone_from_the_list(aap: Run) -> None:
    instance = json.loads(aap("instance", "laptop", "--json").out)
    kept = json.loads(aap("instance", "server", "--json").out)

    revoked = aap("revoke", instance["id"][:8])
    again = aap("revoke", instance["id"])

    assert (revoked.code, revoked.out) == (0, f"revoked laptop ({instance['id']})\n")
    assert [one["id"] for one in json.loads(aap("list", "--json").out)] == [kept["id"]]
    assert again.code == 2
    assert "there is no instance" in again.err


async def test_an_instance_that_cannot_be_read_is_named_and_hides_no_other(
    aap: Run, store_url: str
) -> None:
    def run(*words: str) -> Awaitable[Done]:
        return asyncio.to_thread(aap, *words)

    kept = json.loads((await run("instance", "laptop", "--json")).out)
    broken = json.loads((await run("instance", "server", "--json")).out)
    async with open_store(store_url) as backend:
        name = f"aap-instance:{broken['id']}"
        before = await backend.documents.read(name)
        await backend.documents.swap(name, before, '{"of": "the future"}', seconds=60)

    listed, shown = await run("list", "--json"), await run("list")
    other = await run("revoke", kept["id"], "--json")
    revoked = await run("revoke", broken["id"][:8])
    after = await run("list")

    assert [one["id"] for one in json.loads(listed.out)] == [kept["id"]]
    assert kept["id"] in shown.out
    for done in (listed, shown):
        assert done.code == 0
        assert f"instance {broken['id']} cannot be read" in done.err
        assert "of the future" not in done.err
    assert json.loads(other.out)["id"] == kept["id"]
    assert (revoked.code, revoked.out) == (0, f"revoked {broken['id']}\n")
    assert (after.err, "There are no instances" in after.out) == ("", True)


@pytest.mark.parametrize("url", ["https://sayso.example.com", "https://sayso.example.com/aap/"])
def test_the_address_that_clients_use_can_be_given(url: str, aap: Run) -> None:
    done = aap("instance", "laptop", "--url", url)

    assert done.out.startswith('"https://sayso.example.com/aap", "sayso_')
    assert "put TLS in front" not in done.err


def test_an_address_that_clients_refuse_is_pointed_out(aap: Run) -> None:
    done = aap("instance", "laptop", "--url", "http://sayso.internal:8080")

    assert "Clients refuse http to other computers" in done.err


@pytest.mark.parametrize("url", ["sayso.example.com", "ftp://x", "https://a@b/aap", "https://"])
def test_what_is_no_address_is_refused(url: str, aap: Run) -> None:
    done = aap("instance", "laptop", "--url", url)

    assert (done.code, done.out) == (2, "")
    assert "--url" in done.err


def test_a_provisioner_is_a_token_once_and_its_hash_for_the_settings(run: Run) -> None:
    done = run("aap", "provisioner", "fleet")

    token = done.out.strip()
    assert token not in done.err
    assert done.err.endswith(
        f'[[aap.provisioner]]\nname = "fleet"\nsha256 = "{token_hash(token)}"\n'
    )
    told = json.loads(run("aap", "provisioner", "fleet", "--json").out)
    assert told["sha256"] == token_hash(told["token"])


@pytest.mark.parametrize("action", ["instance", "provisioner"])
@pytest.mark.parametrize("name", ["two words", "", "a" * 65, "-x-", "sayso_" + "x" * 43])
def test_a_name_is_one_that_settings_can_hold(action: str, name: str, aap: Run) -> None:
    done = aap(action, "--", name)

    assert (done.code, done.out) == (2, "")


def test_without_the_section_or_its_secret_the_fix_is_said(aap: Run) -> None:
    off = aap("instance", "laptop", toml="")
    unset = aap("instance", "laptop", env={"SAYSO_AAP_SECRET": ""})

    assert (off.code, unset.code) == (2, 2)
    assert "add [aap] to sayso.toml" in off.err
    assert "SAYSO_AAP_SECRET is not set" in unset.err


def test_a_store_in_memory_holds_no_instance_for_others(aap: Run) -> None:
    done = aap("instance", "laptop", env={"SAYSO_STORE_URL": "memory://"})

    assert done.code == 2
    assert "this command needs Redis" in done.err
