"""Fits: what an argument may be by its meaning, and that nothing else ever fits."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from sayso.calls import Folder, ToolCall
from sayso.digests import arguments_digest
from sayso.errors import ConfigError
from sayso.policy.chain import AdjustablePolicy
from sayso.policy.rule_policy import RulePolicy, once_keys
from sayso.rules.matchers import HostMatcher, PathMatcher, host_of
from sayso.rules.rule import DenyRule, RememberedRule, Rule, literal_rule, matching_rules
from sayso.testing.builders import a_rule

ROOT = "/work/shop"
SEEN_NOWHERE = Folder(ROOT)


def edit(path: object, **others: object) -> ToolCall:
    return ToolCall("Edit", {"file_path": path, **others}, folder=SEEN_NOWHERE)


def below(folder: str = "src") -> Rule:
    return Rule("Edit", matchers={"file_path": PathMatcher(ROOT, folder)})


def test_a_rule_for_a_folder_means_files_below_it_at_any_depth() -> None:
    assert below().matches(edit("/work/shop/src/app.py"))
    assert below().matches(edit("/work/shop/src/a/b/c d.py"))
    assert below("").matches(edit("/work/shop/README.md"))
    assert below("src/api").matches(edit("/work/shop/src/api/v1.py"))


@pytest.mark.parametrize(
    "path",
    [
        *("/work/shop/src", "/work/shop/src/", "/work/shop/srcs/app.py", "/work/shop/README.md"),
        *("/work/shop/src/../.env", "/work/shop/src/./app.py", "/work/shop//src/app.py"),
        *("//work/shop/src/app.py", "/work/shop/src/..", "/work/shop/SRC/app.py", "/etc/passwd"),
        *("~/src/app.py", "/work/shop/src/~root/x", "/work/shop/src/GIT~1/config", "../src/app.py"),
        *("/work/shop/src/.git/hooks/pre-commit", "/work/shop/src/.claude/settings.json"),
        *("/work/shop/src/.github/workflows/ci.yml", "/work/shop/src/.vscode/tasks.json"),
        *("/work/shop/src/.env", "/work/shop/src/Jenkinsfile", "/work/shop/src/JENKINSFILE"),
        *("/work/shop/src/Jenkin\u017ffile", "/work/shop/src/node_modules/left-pad/index.js"),
        *("/work/shop/src/lib/Site-Packages/x.py", "/work/shop/src/sayso.toml"),
        *("/work/shop/src/HEAD", "/work/shop/src/head"),
        *("/work/shop/src/a\0.py", "/work/shop/src/a\n.py", "/work/shop/src/\u200c.git/config"),
        *("/work/shop/src/\u202egpj.exe", "/work/shop/src/a\\b", "/work/shop/src/a:stream"),
        *("/work/shop/src/.git./config", "/work/shop/src/git. /x", "/work/shop/src/ .git/x"),
        *("C:/work/shop/src/app.py", "", "src/", "/", "/work/shop/src/\ud800", "src/../../x"),
        *("/work/shop/src/" + "a" * 5000,),
        *(None, 7, ["/work/shop/src/app.py"], {"path": "/work/shop/src/app.py"}),
    ],
)
def test_what_is_not_plainly_below_the_folder_never_fits(path: object) -> None:
    assert not below().matches(edit(path))


def test_without_a_folder_no_rule_about_paths_is_about_a_call() -> None:
    assert not below().matches(replace(edit("/work/shop/src/app.py"), folder=None))


def test_a_relative_path_begins_where_the_agent_says_else_at_the_root() -> None:
    assert below().matches(edit("src/app.py"))
    assert below().matches(edit("./src/app.py"))
    inner = Folder(ROOT, begins="/work/shop/src")
    assert below().matches(replace(edit("app.py"), folder=inner))
    assert not below().matches(replace(edit("app.py"), folder=Folder(ROOT, begins="/work")))
    assert not below().matches(replace(edit("app.py"), folder=Folder(ROOT, begins="src")))


def test_a_rule_for_one_file_means_no_other() -> None:
    one = Rule("Edit", matchers={"file_path": PathMatcher(ROOT, "src", "app.py")})
    assert one.matches(edit("/work/shop/src/app.py"))
    assert not one.matches(edit("/work/shop/src/app.py/x"))
    assert not one.matches(edit("/work/shop/src/app.pyc"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: PathMatcher("/"),
        lambda: PathMatcher("/home/ann"),
        lambda: PathMatcher("/Users/ann"),
        lambda: PathMatcher("/etc"),
        lambda: PathMatcher("/usr/lib"),
        lambda: PathMatcher("shop"),
        lambda: PathMatcher("/work/../etc"),
        lambda: PathMatcher("/work/shop/"),
        lambda: PathMatcher(ROOT, ".git"),
        lambda: PathMatcher(ROOT, "../other"),
        lambda: PathMatcher(ROOT, "/etc"),
        lambda: PathMatcher(ROOT, "src", "a/b"),
        lambda: PathMatcher(ROOT, "src", ".env"),
        lambda: PathMatcher(ROOT, "", "node_modules"),
    ],
)
def test_a_rule_for_a_home_a_system_folder_or_a_hidden_one_cannot_be_made(make: object) -> None:
    with pytest.raises(ConfigError):
        make()  # type: ignore[operator]


def test_a_link_below_the_root_never_fits_where_the_files_are_seen(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "src" / "app.py").write_text("")
    (root / "src" / "out").symlink_to(tmp_path / "outside")
    (root / "src" / "file").symlink_to(tmp_path / "outside" / "new.txt")
    (root / "lib").symlink_to(tmp_path / "outside")
    (tmp_path / "outside" / "other.py").write_text("")
    os.link(tmp_path / "outside" / "other.py", root / "src" / "second-name.py")
    os.mkfifo(root / "src" / "pipe")
    seen = Folder(str(root), seen=True)

    def fits(path: str, folder: str = "src") -> bool:
        rule = Rule("Edit", matchers={"file_path": PathMatcher(str(root), folder)})
        return rule.matches(ToolCall("Edit", {"file_path": str(root / path)}, folder=seen))

    assert fits("src/app.py")
    assert fits("src/new/deeper/new.py")
    for path in ("src/out/x", "src/file", "src/second-name.py", "src/pipe", "src/app.py/x"):
        assert not fits(path), path
    assert not fits("lib/x", "lib")


def test_a_root_that_is_itself_behind_a_link_is_the_agents_own_word(tmp_path: Path) -> None:
    (tmp_path / "real" / "src").mkdir(parents=True)
    (tmp_path / "shop").symlink_to(tmp_path / "real")
    root = str(tmp_path / "shop")
    rule = Rule("Edit", matchers={"file_path": PathMatcher(root, "src")})
    call = ToolCall("Edit", {"file_path": f"{root}/src/a.py"}, folder=Folder(root, seen=True))
    assert rule.matches(call)


def test_a_page_fits_by_its_exact_host() -> None:
    rule = Rule("WebFetch", matchers={"url": HostMatcher("docs.python.org")})

    def fits(url: object) -> bool:
        return rule.matches(ToolCall("WebFetch", {"url": url}))

    assert fits("https://docs.python.org")
    assert fits("https://docs.python.org/3/library/re.html?highlight=a@b#top")
    assert fits("https://DOCS.Python.org/3/")


@pytest.mark.parametrize(
    "url",
    [
        *("http://docs.python.org/", "https://python.org/", "https://docs.python.org.evil.com/"),
        *("https://docs.python.org@evil.com/", "https://a@docs.python.org/", "HTTPS://evil.com"),
        *("https://docs.python.org:8443/", "https://docs.python.org:443/", "https:docs.python.org"),
        *("https://docs.python.org\\@evil.com/", "https://evil.com\\.docs.python.org/"),
        *(
            "https://docs.python.org?x",
            "https://docs.python.org#@evil.com/",
            " https://docs.python.org",
        ),
        *("https://docs.python.org./", "https://docs%2epython.org/", "https://docs.python.org/\n"),
        *(
            "https://docs.pyth\u00f6n.org/",
            "https://docs\u3002python.org/",
            "https:///docs.python.org",
        ),
        *("file:///etc/passwd", "javascript:1", "", None, ["https://docs.python.org/"], 7),
    ],
)
def test_an_address_that_may_lead_elsewhere_never_fits(url: object) -> None:
    assert not HostMatcher("docs.python.org").holds(url, None)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "127.0.0.1", "10.0.0.1", "2130706433", "0x7f.1", "1.2.3.4", "[::1]", "db"),
        *("router.local", "vault.internal", "nas.lan", "printer.home.arpa", "a..b", "-a.com"),
        *("Docs.python.org", "d\u00f6cs.org", "example.com:80", "a.example", "", "a" * 64 + ".com"),
    ],
)
def test_no_rule_is_made_for_a_host_without_a_public_name(host: str) -> None:
    with pytest.raises(ConfigError):
        HostMatcher(host)
    assert host_of(f"https://{host}/") in (None, "docs.python.org")


@given(st.text(max_size=60), st.sampled_from(["/work/shop/src/", "/work/shop/", "src/", ""]))
def test_a_path_that_fits_is_below_its_folder_however_it_is_written(tail: str, head: str) -> None:
    path = head + tail
    if below().matches(edit(path)):
        full = path if path.startswith("/") else f"{ROOT}/{path}"
        assert os.path.normpath(full).startswith("/work/shop/src/")
        names = os.path.normpath(full).split("/")
        assert not any(name.startswith(".") for name in names)


@given(st.text(max_size=40))
def test_an_address_that_fits_has_the_host_that_a_browser_finds(tail: str) -> None:
    url = f"https://docs.python.org{tail}"
    if HostMatcher("docs.python.org").holds(url, None):
        assert tail == "" or tail.startswith("/")


def test_talk_is_left_out_of_what_a_rule_holds() -> None:
    call = ToolCall("Bash", {"command": "make test", "description": "Run the tests"})
    exact = literal_rule(call, talk=("timeout", "description"))

    assert exact.matches(call)
    assert exact.matches(ToolCall("Bash", {"command": "make test", "description": "Once more"}))
    assert exact.matches(ToolCall("Bash", {"command": "make test", "timeout": 5}))
    assert not exact.matches(ToolCall("Bash", {"command": "make", "description": "Run the tests"}))
    assert not exact.matches(ToolCall("Bash", {"command": "make test", "cwd": "/"}))


def test_others_beside_a_fit_are_those_of_the_digest() -> None:
    rule = Rule(
        "Edit",
        matchers={"file_path": PathMatcher(ROOT, "src")},
        talk=("new_string", "old_string"),
        others_digest=arguments_digest({}),
    )
    assert rule.matches(edit("src/a.py", old_string="1", new_string="2"))
    assert not rule.matches(edit("src/a.py", old_string="1", mode="0777"))


def test_many_rules_answer_as_each_does() -> None:
    call = ToolCall("Edit", {"file_path": "src/a.py", "why": "x"}, folder=SEEN_NOWHERE)
    rules = [
        below(),
        below("tests"),
        literal_rule(call, talk=("why",)),
        literal_rule(replace(call, arguments={"file_path": "src/b.py"}), talk=("why",)),
        Rule("Edit", arguments_digest=arguments_digest({"file_path": "src/a.py"}), talk=("why",)),
        Rule("Edit", arguments_digest=arguments_digest({"file_path": "src/a.py"})),
    ]
    found = [number for number, rule in enumerate(rules) if rule.matches(call)]
    assert list(matching_rules(rules, call)) == found == [0, 2, 4]


def test_a_rule_that_allows_by_a_fit_is_never_one_that_denies() -> None:
    with pytest.raises(ConfigError, match="can only allow"):
        RulePolicy(deny=[below()])
    with pytest.raises(ConfigError, match="can only allow"):
        DenyRule("deny rule 1", below())
    with pytest.raises(ConfigError, match="can only allow"):
        AdjustablePolicy(RulePolicy()).update(deny=[below()])
    with pytest.raises(ConfigError, match="can only allow"):
        replace(a_rule(effect="deny"), rule=below())


def test_a_denial_by_a_fit_that_came_over_the_wire_denies_every_call_of_its_tool() -> None:
    wire = TypeAdapter(Rule).dump_json(below(), by_alias=True)
    read = TypeAdapter(DenyRule).validate_json(b'{"line":"x","rule":' + wire + b"}")
    assert read == DenyRule("x", None)


def test_rules_without_talk_and_fits_are_written_as_other_versions_read_them() -> None:
    written = TypeAdapter(RememberedRule).dump_json(a_rule(), by_alias=True)
    assert b"talk" not in written
    assert b"matchers" not in written


def test_a_rule_with_fits_is_read_as_it_was_written_and_never_with_a_part_left_out() -> None:
    rule = Rule(
        "x",
        matchers={"a": PathMatcher(ROOT, "src", "a.py"), "b": HostMatcher("a.org")},
        talk=("c",),
    )
    adapter = TypeAdapter(Rule)
    written = adapter.dump_json(rule, by_alias=True)
    assert adapter.validate_json(written) == rule
    with pytest.raises(ValueError, match="depth"):
        adapter.validate_json(written.replace(b'"folder"', b'"depth":2,"folder"'))
    with pytest.raises(ValueError, match="kind"):
        adapter.validate_json(written.replace(b'"path"', b'"regex"'))


@pytest.mark.parametrize(
    "fields",
    [
        {"params": {"a": "x"}, "matchers": {"a": HostMatcher("a.org")}},
        {"talk": ("a",), "matchers": {"a": HostMatcher("a.org")}},
        {"talk": ("a",), "params": {"a": "x"}},
    ],
)
def test_a_rule_says_of_a_parameter_once_what_it_may_be(fields: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="twice"):
        Rule("x", **fields)  # type: ignore[arg-type]


def test_rules_that_differ_in_fits_or_talk_are_used_up_apart() -> None:
    rules = [
        *(Rule("x"), Rule("x", talk=("a",)), Rule("x", matchers={"a": HostMatcher("a.org")})),
        *(
            Rule("x", matchers={"a": HostMatcher("b.org")}),
            Rule("x", matchers={"a": PathMatcher(ROOT)}),
        ),
    ]
    assert len(set(once_keys(rules))) == len(rules)
