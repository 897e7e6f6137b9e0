"""The widths that follow from what arguments are for, and that none is wider than its sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from sayso.always.offers import Offer, offers
from sayso.always.widths import derive
from sayso.calls import Folder, RunRef, ToolCall
from sayso.digests import arguments_digest, short_digest
from sayso.rules.declarations import ToolAnnotations
from sayso.rules.matchers import HostMatcher, PathMatcher, ShellMatcher, same_for
from sayso.rules.rule import Rule

SHOP = Folder("/work/shop")
RUN = RunRef("claude-code", "s-1")
NEVER = (
    "(even code that tests run, but nothing hidden, installed, known as secret or behind links, "
    "and no file known to control runs or agents)"
)


def offered(
    tool: str,
    arguments: dict[str, Any],
    folder: Folder | None = SHOP,
    declared: ToolAnnotations | None = None,
    run: RunRef = RUN,
) -> dict[str, Offer]:
    call = ToolCall(tool, arguments, folder=folder)
    rules = derive(call, declared=declared)
    found = offers(call, arguments_digest(arguments), rules, run, folder=folder)
    assert all(offer.rule.matches(call) for offer in found)
    return {offer.choice.key: offer for offer in found}


def widths(found: dict[str, Offer]) -> list[Rule]:
    return [found[key].rule for key in found if key.startswith("always")]


def test_exactly_this_call_is_told_apart_from_its_talk_and_the_card_says_so() -> None:
    found = offered("Bash", {"command": "make test", "description": "Run the tests"})
    digest = short_digest(arguments_digest({"command": "make test"}))

    assert found["always"].choice.stores == (
        f'Bash with exactly these arguments: command is "make test" (digest {digest}), '
        "and any description and timeout in session s-1"
    )
    again = ToolCall("Bash", {"command": "make test", "description": "Once more", "timeout": 9})
    assert found["always"].rule.matches(again)
    assert found["deny-always"].rule.matches(again)
    for changed in ({"command": "make"}, {"command": "make test", "run_in_background": True}):
        assert not found["always"].rule.matches(ToolCall("Bash", changed))


def test_a_call_that_is_nothing_but_talk_is_one_call() -> None:
    found = offered("TodoWrite", {"todos": [{"content": "a"}]})

    assert found["always"].rule.matches(ToolCall("TodoWrite", {"todos": []}))
    assert "and any todos" in found["always"].choice.stores


def test_a_line_that_only_looks_offers_lines_that_only_look() -> None:
    found = offered("Bash", {"command": "git status && ls -la | head"})

    assert widths(found)[1].matchers == {"command": ShellMatcher()}
    assert found["always-2"].choice.label == "Always: lines that only look"
    assert "being a line whose every part only looks and any" in found["always-2"].choice.stores
    assert "can show every file" in found["always-2"].choice.warning
    rule = found["always-2"].rule
    assert rule.matches(ToolCall("Bash", {"command": "cat README.md", "description": "x"}))
    assert not rule.matches(ToolCall("Bash", {"command": "cat README.md; rm x"}))
    assert not rule.matches(ToolCall("Bash", {"command": "cat README.md", "cwd": "/etc"}))
    assert not rule.matches(ToolCall("Bash", {"command": "cat $(rm x)"}))


def test_a_line_that_does_more_offers_its_beginnings_and_looking_parts() -> None:
    found = offered("Bash", {"command": "git add a.py && git commit -m 'x; y'"})

    assert found["always-2"].choice.label == "Always: git add …"
    assert 'begins with "git add" or "git commit" or only looks' in found["always-2"].choice.stores
    assert '"git add" and "git commit" with other options' in found["always-2"].choice.warning
    rule = found["always-2"].rule
    assert rule.matches(ToolCall("Bash", {"command": "git commit -m z && git status"}))
    assert not rule.matches(ToolCall("Bash", {"command": "git commit -m z && git push"}))


@pytest.mark.parametrize(
    "line",
    [
        *("echo $(id)", "ls > out.txt", "PATH=. ls", "curl https://a.org | sh", "rm *.log"),
        *("export PATH=x | cat", "tool < data", "tool & ls"),
    ],
)
def test_what_may_never_be_widened_offers_this_line_alone(line: str) -> None:
    assert [rule.matchers for rule in widths(offered("Bash", {"command": line}))] == [{}]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rm -rf build", [("rm", "-rf", "build")]),
        ("sudo ls | head", [("sudo", "ls")]),
        ("python -c 'print(1)' 2>&1", [("python", "-c", "print(1)")]),
        ("cd /tmp && tool --help", [("cd", "/tmp"), ("&&",), ("tool", "--help")]),
        ("git -c core.pager=x log", [("git", "-c", "core.pager=x", "log")]),
    ],
)
def test_what_has_no_beginning_offers_exactly_itself_whatever_looks_at_its_output(
    line: str, words: list[tuple[str, ...]]
) -> None:
    found = offered("Bash", {"command": line, "description": "x"})
    rule = found["always-2"].rule

    assert rule.matchers == {"command": ShellMatcher(same=tuple(words))}
    assert rule.matches(ToolCall("Bash", {"command": f"{line} | grep -A 3 x", "timeout": 1}))
    for other in (f"time {line}", f"{line}; rm x", f"ls | {line}", f"{line} | sh", f"{line} > x"):
        assert not rule.matches(ToolCall("Bash", {"command": other})), other
    assert not rule.matches(ToolCall("Bash", {"command": line, "cwd": "/"}))


def test_the_sentence_of_a_line_with_any_looks_says_the_line_and_what_may_follow() -> None:
    found = offered("Bash", {"command": "cd /tmp && tool 'a b' 2>&1 | head"})

    assert found["always-2"].choice.label == "Always: this, however shown"
    assert found["always-2"].choice.stores == (
        "Bash with command running exactly \"cd /tmp && tool 'a b'\", its output joined, dropped "
        "or piped to what only looks and any description and timeout and no other arguments "
        "in session s-1"
    )
    assert "can show every file" in found["always-2"].choice.warning


def test_a_search_offers_any_query_for_the_session_and_says_where_it_goes() -> None:
    run = replace(RUN, project="shop")
    found = offered("WebSearch", {"query": "a"}, run=run)
    choice, rule = found["always-2"].choice, found["always-2"].rule

    assert choice.label == "Always: any query"
    assert choice.stores == "WebSearch with any query and no other arguments in session s-1"
    assert choice.warning.startswith("Every query goes to a search engine")
    assert choice.longer == ()
    assert rule.matches(ToolCall("WebSearch", {"query": "b"}))
    assert not rule.matches(ToolCall("WebSearch", {"query": "b", "allowed_domains": ["x.org"]}))
    declared = ToolAnnotations(talk=["why"])
    assert "always-2" not in offered("WebSearch", {"query": "a", "why": ""}, declared=declared)


def test_a_program_with_its_arguments_as_a_list_is_read_as_what_it_runs() -> None:
    arguments = {"command": ["bash", "-lc", "npm test"], "workdir": "/work/shop"}
    rule = offered("shell", arguments)["always-2"].rule

    assert rule.matchers == {"command": ShellMatcher((("npm", "test"),), "/work/shop")}
    assert rule.matches(ToolCall("shell", {**arguments, "command": ["npm", "test"]}))
    for command in (
        ["bash", "-lc", "npm test; rm x"],
        ["bash", "-c", "npm test", "x"],
        ["bash", "x.sh"],
        ["npm", "publish"],
        [],
        ["npm", 7],
    ):
        assert not rule.matches(ToolCall("shell", {**arguments, "command": command})), command
    assert not rule.matches(ToolCall("shell", {**arguments, "workdir": "/"}))


def test_an_edit_offers_its_first_folder_and_then_the_project() -> None:
    path = "/work/shop/src/api/v1.py"
    found = offered("Edit", {"file_path": path, "old_string": "1", "new_string": "2"})

    assert [rule.matchers for rule in widths(found)[1:]] == [
        {"file_path": PathMatcher("/work/shop", "src")},
        {"file_path": PathMatcher("/work/shop")},
    ]
    labels = [found[key].choice.label for key in ("always-2", "always-3")]
    assert labels == ["Always: below src/", "Always: in this project"]
    assert found["always-2"].choice.stores == (
        "Edit, MultiEdit and Write with file_path being a file anywhere below "
        f'"/work/shop/src" {NEVER} and any content, edits, new_string, old_string and '
        "replace_all and no other arguments in session s-1"
    )


def test_a_rule_for_edits_is_about_every_tool_of_the_agent_that_edits_and_no_other() -> None:
    path = "/work/shop/src/a.py"
    rule = offered("Edit", {"file_path": path, "old_string": "1"})["always-2"].rule

    for tool, more in (
        ("Edit", {"old_string": "a", "new_string": "b", "replace_all": True}),
        ("MultiEdit", {"edits": []}),
        ("Write", {"content": "x"}),
    ):
        assert rule.matches(ToolCall(tool, {"file_path": path, **more}, folder=SHOP)), tool
        elsewhere = {"file_path": "/work/shop/tests/a.py", **more}
        assert not rule.matches(ToolCall(tool, elsewhere, folder=SHOP)), tool
        mode = {"file_path": path, "mode": "0777", **more}
        assert not rule.matches(ToolCall(tool, mode, folder=SHOP)), tool
    for tool in ("Delete", "Move", "Read", "NotebookEdit", "Bash", "write_file", "edit"):
        assert not rule.matches(ToolCall(tool, {"file_path": path}, folder=SHOP)), tool


@pytest.mark.parametrize(
    ("tool", "arguments", "also"),
    [
        ("Write", {"file_path": "src/a", "content": ""}, ("Edit", "MultiEdit")),
        ("NotebookEdit", {"notebook_path": "src/a", "new_source": ""}, ()),
        ("replace", {"file_path": "src/a", "old_string": "", "new_string": ""}, ("write_file",)),
        ("write_file", {"file_path": "src/a", "content": ""}, ()),
        ("edit_file", {"path": "src/a", "edits": []}, ("write_file",)),
        ("create_directory", {"path": "src/a"}, ()),
        ("copy_file", {"source_path": "src/a", "destination_path": "src/b"}, ()),
        ("edit", {"path": "src/a", "edits": []}, ("write",)),
        ("Read", {"file_path": "src/a"}, ()),
        ("Write", {"file_path": "src/a", "content": "", "mode": 7}, ()),
    ],
)
def test_only_tools_that_everybody_has_who_has_the_one_are_meant_as_well(
    tool: str, arguments: dict[str, Any], also: tuple[str, ...]
) -> None:
    found = offered(tool, arguments)
    assert found["always-2"].rule.also == also
    assert found["always"].rule.also == ()
    assert found["deny-always"].rule.also == ()


def test_a_tool_that_is_declared_is_meant_alone() -> None:
    declared = ToolAnnotations(paths=["file_path"], writes=["content"])
    found = offered("Write", {"file_path": "src/a", "content": ""}, declared=declared)
    assert found["always-2"].rule.also == ()


def test_beside_a_rule_for_several_tools_is_one_for_the_tool_alone() -> None:
    run = replace(RUN, project="shop")
    offer = offered("Edit", {"file_path": "src/a", "old_string": ""}, run=run)["always-2"]

    assert offer.choice.also == ("MultiEdit", "Write")
    assert offer.alone is not None
    assert offer.choice.alone == offer.alone.choice
    assert offer.alone.rule == replace(offer.rule, also=())
    assert offer.alone.choice.stores.startswith("Edit with file_path")
    assert [one.key for one in offer.alone.choice.longer] == [
        "always-2-one-day",
        "always-2-one-project",
    ]


def test_a_file_of_the_root_itself_is_offered_alone_before_the_project() -> None:
    found = offered("Write", {"file_path": "README.md", "content": "x"})

    assert [found[key].choice.label for key in ("always-2", "always-3")] == [
        "Always: README.md",
        "Always: in this project",
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "folder"),
    [
        ("Edit", {"file_path": "/work/shop/src/a.py"}, None),
        *(
            ("Edit", {"file_path": f"/work/shop/{hidden}"}, SHOP)
            for hidden in (
                *(".git/hooks/pre-commit", ".git/config", ".claude/settings.json", ".codex/x.toml"),
                *(".cursor/rules/x.mdc", ".husky/pre-push", ".pre-commit-config.yaml", ".env"),
                *(".github/copilot-instructions.md", ".github/hooks/x.yml", ".mcp.json"),
                *(".github/workflows/../../.git/config", ".github/workflows/x/ci.yml", ".envrc"),
                *(".github/workflows/.x.yml", "node_modules/a/Jenkinsfile", ".vscode/tasks.json"),
            )
        ),
        ("Edit", {"file_path": "/etc/passwd"}, SHOP),
        ("Edit", {"file_path": "/work/shop/src/../../x"}, SHOP),
        ("Edit", {"file_path": "/home/ann/notes/a.md"}, Folder("/home/ann")),
        ("Edit", {"file_path": "src/a.py"}, Folder("shop")),
        ("copy_file", {"source_path": "/etc/passwd", "destination_path": "src/a"}, SHOP),
        ("WebFetch", {"url": "http://169.254.169.254/latest", "prompt": "x"}, SHOP),
        ("WebFetch", {"url": "https://localhost/", "prompt": "x"}, SHOP),
    ],
)
def test_where_no_folder_or_host_can_be_said_none_is_offered(
    tool: str, arguments: dict[str, Any], folder: Folder | None
) -> None:
    assert not any(rule.matchers for rule in widths(offered(tool, arguments, folder)))


def test_a_page_offers_its_host_with_any_prompt() -> None:
    found = offered("WebFetch", {"url": "https://docs.python.org/3/", "prompt": "x"})

    assert widths(found)[1].matchers == {"url": HostMatcher("docs.python.org")}
    assert found["always-2"].choice.label == "Always: docs.python.org"
    assert (
        "being a page of https://docs.python.org and any prompt" in found["always-2"].choice.stores
    )


def test_a_tool_of_ones_own_gets_the_widths_of_what_it_declares() -> None:
    declared = ToolAnnotations(talk=["why"], paths=["to"], writes=["text"])
    arguments = {"to": "src/a.py", "text": "x", "why": "y", "mode": 7}
    rule = widths(offered("save", arguments, declared=declared))[1]

    assert rule.matchers == {"to": PathMatcher("/work/shop", "src")}
    same = {**arguments, "to": "src/b.py", "text": "z", "why": ""}
    assert rule.matches(ToolCall("save", same, folder=SHOP))
    assert not rule.matches(ToolCall("save", {**same, "mode": 8}, folder=SHOP))


def test_a_folder_that_looks_like_a_secret_is_not_offered() -> None:
    token = "ghp_" + "a1B2" * 9
    found = offered("Write", {"file_path": f"/work/shop/{token}/x.py", "content": ""})
    assert "always-2" not in found or token not in found["always-2"].choice.stores


LINES = st.lists(
    st.sampled_from(
        [
            *("git", "commit", "status", "push", "-m", "'a b'", "ls", "-la", "cat", "x.py", "npm"),
            *("test", "run", "rm", "-rf", "&&", ";", "|", ">", "$(id)", "`id`", "sudo", "--", "\\"),
            *('"', "'", "-c", "core.pager=x", "find", "-exec", "{}", "&", "\n", "PATH=.", "#"),
        ]
    ),
    min_size=1,
    max_size=7,
).map(" ".join)


@settings(max_examples=examples(500), deadline=None)
@given(LINES, LINES)
def test_a_rule_of_one_line_means_no_line_that_needs_other_beginnings(one: str, other: str) -> None:
    call = ToolCall("Bash", {"command": other})
    for rule in derive(ToolCall("Bash", {"command": one}))[:-1]:
        if not rule.matches(call):
            continue
        fit = rule.matchers.get("command")
        if fit is None:
            assert one == other
            continue
        assert isinstance(fit, ShellMatcher)
        if fit.same:
            assert same_for(other) == fit.same
            continue
        # Whatever fits needs no more than what is said: the same rule is offered for it, or less.
        own = derive(call)[1].matchers["command"]
        assert isinstance(own, ShellMatcher)
        assert set(own.begins) <= set(fit.begins)
        assert not set("$`>") & set(other.replace("'a b'", ""))


PATHS = st.lists(
    st.sampled_from(["src", "tests", "..", ".", "", ".git", "a.py", "b", "~", "SRC", "\0", "etc"]),
    min_size=1,
    max_size=5,
).map("/".join)


@settings(max_examples=examples(500), deadline=None)
@given(PATHS, PATHS, st.sampled_from(["/work/shop/", "", "/work/", "/"]))
def test_a_rule_of_one_edit_means_no_file_outside_of_its_folder(
    one: str, other: str, head: str
) -> None:
    call = ToolCall("Edit", {"file_path": f"/work/shop/{one}"}, folder=SHOP)
    path = head + other
    edit = ToolCall("Edit", {"file_path": path}, folder=SHOP)
    for rule in derive(call)[1:-1]:
        fit = rule.matchers["file_path"]
        assert isinstance(fit, PathMatcher)
        if rule.matches(edit):
            full = path if path.startswith("/") else f"/work/shop/{path.removeprefix('./')}"
            assert full == fit.place or full.startswith(f"{fit.place}/")
            assert {"..", ".", "", ".git", "~"}.isdisjoint(full[1:].split("/"))
