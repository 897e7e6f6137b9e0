"""Dangers of SQL, manifests, paths and other values; that none is found is not said to mean any."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from sayso.calls import ToolCall
from sayso.dangers.danger import Danger, danger_texts
from sayso.dangers.found import LONGEST, dangers_in, dangers_of, text_dangers
from sayso.dangers.places import Root
from sayso.known.tools import roles_in
from sayso.locales import ENGLISH

ROOT = Root("/home/dev/shop", "/home/dev/shop")
CALLS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/calls64.jsonl").read_text().splitlines()
]

SQL = [
    ("DROP TABLE users", "DROPS_TABLE"),
    ("drop/**/table users", "DROPS_TABLE"),
    ("BEGIN;\nDROP DATABASE shop;", "DROPS_TABLE"),
    ("TRUNCATE orders", "DROPS_TABLE"),
    ("ALTER TABLE users DROP COLUMN email", "DROPS_TABLE"),
    ("DELETE FROM users", "ALL_ROWS"),
    ("DELETE FROM users -- WHERE id = 1", "ALL_ROWS"),
    ("DELETE FROM users WHERE true", "ALL_ROWS"),
    ("DELETE FROM users WHERE 1 = 1", "ALL_ROWS"),
    ("DELETE FROM users WHERE id = 1 OR 1=1", "ALL_ROWS"),
    ("UPDATE users SET admin = true", "ALL_ROWS"),
    ("GRANT ALL ON users TO bob", "PERMISSIONS"),
    ("DELETE FROM users WHERE id = 1", ""),
    ("UPDATE users SET admin = true WHERE id = 1", ""),
    ("SELECT * FROM users WHERE note = 'delete'", ""),
    ("SELECT 1 FOR UPDATE", ""),
]

VALUES: list[tuple[str, dict[str, Any], str]] = [
    ("apply", {"manifest": "spec:\n  privileged: true\n"}, "PRIVILEGED"),
    ("apply", {"spec": {"hostPID": True}}, "PRIVILEGED"),
    ("apply", {"manifest": "hostPath:\n  path: /\n"}, "PRIVILEGED"),
    ("apply", {"manifest": '{"securityContext": {"privileged": true}}'}, "PRIVILEGED"),
    ("apply", {"spec": {"replicas": 0}}, "STOPS"),
    ("apply", {"manifest": "replicas: 0"}, "STOPS"),
    ("apply", {"manifest": "metadata:\n  namespace: shop-prod\n"}, "PRODUCTION"),
    ("apply", {"manifest": "role: cluster-admin"}, "PERMISSIONS"),
    ("plan", {"text": "", "plan": '{"actions": ["create", "delete"]}'}, "DESTROYS"),
    ("plan", {"plan": "Plan: 0 to add, 0 to change, 12 to destroy."}, "DESTROYS"),
    ("deploy", {"target": "PROD"}, "PRODUCTION"),
    ("deploy", {"mode": 1, "environment": "live"}, "PRODUCTION"),
    ("deploy", {"hosts": ["web1", "web2.prd.example.com"]}, "PRODUCTION"),
    ("deploy", {"key": "sk_live_x"}, "PRODUCTION"),
    ("call", {"method": "delete", "url": "https://x.example"}, "DELETES"),
    ("Write", {"file_path": "/etc/hosts", "content": ""}, "OUTSIDE"),
    ("Write", {"file_path": "../x", "content": ""}, "OUTSIDE"),
    ("Write", {"file_path": "/home/dev/shop/../x", "content": ""}, "OUTSIDE"),
    ("Write", {"file_path": "~/x", "content": ""}, "OUTSIDE"),
    ("Write", {"file_path": "C:\\Windows\\x", "content": ""}, "OUTSIDE"),
    ("Write", {"file_path": "/home/dev/shopping/x", "content": ""}, "OUTSIDE"),
    ("Write", {"file_path": ".git/hooks/pre-commit", "content": ""}, "RUNS_LATER"),
    ("Read", {"file_path": "/home/dev/.ssh/id_rsa"}, "READS_SECRETS"),
    ("refund", {"amount": 3, "currency": "EUR"}, "MONEY"),
    ("deleteUser", {"id": 3}, "DELETES"),
    ("post", {"text": "<!channel> hello"}, "MANY_PEOPLE"),
    ("mail", {"to": ["a"] * 11}, "MANY_PEOPLE"),
    ("b\u0430sh", {"description": "x"}, "LOOKALIKES"),
    ("pay", {"\u0430mount": "x"}, "LOOKALIKES"),
    ("fetch", {"address": "https://\u0430\u0440\u0440\u04cf\u0435.com"}, "LOOKALIKES"),
    ("send", {"message": "visit p\u0430ypal.com"}, "LOOKALIKES"),
    ("pay", {"to": "\u0430\u0441\u0435"}, "LOOKALIKES"),
    ("pay", {"recipient": ["\u0430\u0441\u0435", "b"]}, "LOOKALIKES"),
    ("open", {"host": "\u0441\u0435\u043e.com"}, "LOOKALIKES"),
    ("pay", {"payee": "Bank \u0410\u0421\u0415"}, "LOOKALIKES"),
    ("pay", {"payee": "\u0430\u0441\u0435 \u0441\u043e\u0440"}, "LOOKALIKES"),
    *(
        ("pay", {name: "\u0430\u0441\u0435"}, "LOOKALIKES")
        for name in ("accountName", "user_id", "target_host", "remote_url", "callback-url")
    ),
    ("open", {"host": "g\u0131thub.com"}, "LOOKALIKES"),
    ("pay", {"user_message": "\u0430\u0441\u0435", "user": "Yıldız"}, ""),
    ("pay", {"payee": "ООО Ромашка"}, ""),
    ("pay", {"beneficiary": "АО «ВСК»"}, ""),
    ("pay", {"owner": "А. С. Пушкин", "user": "С. Петров"}, ""),
    ("pay", {"recipient": "ΟΤΕ ΑΕ"}, ""),
    ("pay", {"to": "Иван", "message": "Привет, а кто это?"}, ""),
    ("open", {"url": "https://оса.рф"}, ""),
    ("Write", {"file_path": "раса.txt", "content": "раса и а"}, ""),
    ("Write", {"file_path": "src/a.py", "content": "rm -rf / # production"}, ""),
    ("mail", {"body": "please drop table 4 in production\nrm is a command"}, ""),
    ("deploy", {"target": "pre-prod", "note": "product"}, ""),
    ("read_limits", {"amount": 3}, ""),
]


def _names(tool: str, arguments: dict[str, Any]) -> set[str]:
    return {danger.name for danger in dangers_of(ToolCall(tool, arguments), ROOT)}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: json.dumps(call)[:60])
def test_realistic_calls_have_these_dangers_and_no_others(call: dict[str, Any]) -> None:
    assert _names(call["tool"], call["arguments"]) == set(call["dangers"])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        *((call["tool"], call["arguments"]) for call in CALLS),
        *((tool, arguments) for tool, arguments, _ in VALUES),
        ("refund", {"amount": "3", "note": "x" * (LONGEST + 1)}),
    ],
)
def test_a_text_by_itself_has_the_dangers_that_it_has_as_the_only_argument(
    tool: str, arguments: dict[str, Any]
) -> None:
    for name, text in arguments.items():
        if isinstance(text, str):
            call = ToolCall(tool, {name: text})
            roles = roles_in(call, None)
            assert text_dangers(tool, name, text, ROOT, roles) == dangers_in(call, ROOT, roles)


def test_there_are_64_of_them() -> None:
    assert len(CALLS) == 64


@pytest.mark.parametrize(("statement", "dangers"), SQL)
def test_a_statement_is_read_for_which_rows_it_means(statement: str, dangers: str) -> None:
    assert _names("query", {"sql": statement}) == set(dangers.split())


@pytest.mark.parametrize(("tool", "arguments", "dangers"), VALUES)
def test_values_decide_by_what_they_are(tool: str, arguments: dict[str, Any], dangers: str) -> None:
    assert _names(tool, arguments) == set(dangers.split())


def test_what_is_too_long_to_look_through_is_said_so() -> None:
    assert _names("note", {"value": "x" * LONGEST}) == set()
    assert _names("note", {"value": "x" * (LONGEST + 1)}) == {"UNREAD"}
    assert _names("Bash", {"command": "true;" * 1_000}) == {"UNREAD"}
    assert "UNREAD" in _names("note", {"value": ["x"] * 10_000})
    nested: Any = "x"
    for _ in range(50):
        nested = [nested]
    assert _names("note", {"value": nested}) == {"UNREAD"}


HOSTILE = [
    "a ", "git;", "rm ", "'\"", "$(", "DELETE FROM x ", ";DELETE ", "env: ", "replicas", "x",
    "/*", "* /", "grant a,", "update a set ", "${a", "@here ", "prod ", "<(curl ", " ", "\n", "\\",
    "docker --privileged ", "bash -c 'x ' ", "alter table ", "cd /;", "rm -", '"actions" : [',
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_values_take_no_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    taken = []
    for tool, name in (("Bash", "command"), ("note", "value")):
        call = ToolCall(tool, {name: text})
        times = []
        for _ in range(5):
            begun = time.process_time()
            dangers_of(call)
            times.append(time.process_time() - begun)
        taken.append(min(times))

    # 5 ms on a machine with nothing else to do.
    assert max(taken) < 0.015


def test_no_word_of_ours_says_safe() -> None:
    words = " ".join((*danger_texts(ENGLISH, (*Danger,), high_risk=True), *map(str, Danger)))

    assert not re.search(r"safe|harmless|secure|\bok\b|trusted|no danger", words, re.IGNORECASE)
    assert danger_texts(ENGLISH, ()) == ()


def test_what_its_maker_calls_high_risk_is_said_first() -> None:
    said = danger_texts(ENGLISH, (Danger.DISK,), high_risk=True)

    assert said == ("its maker calls this high risk", "writes to a disk itself")
