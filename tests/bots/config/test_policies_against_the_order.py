"""Generated ``[[policy]]`` sections: the order of evaluation decides, and ``explain`` says so."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.order_of_evaluation import Config, Kept, Order, Told
from support.settings_text import ROUTE, SLACK

from sayso import Rule, RunRef, ToolCall
from sayso.agent.verdict import CheckResult
from sayso.policy.policy_file import Default
from sayso.testing import Prompt, Stage
from sayso_bots.cli.main import main
from sayso_bots.server.reloading import Rereading

AGENTS = ("deploy-bot", "deploy-2", "reader")
TOOLS = ("bash", "Read", "git_push")
# What the preset has of these tools, as far as the commands of the steps go.
LOOKING = (Rule("Read"), Rule("bash", {"command": "ls"}))
ANSWERS = ("allow", "deny", "always", "deny-always")
LISTS: Sequence[str] = ("allow", "allow_once", "deny")


@dataclass(frozen=True)
class Part:
    """What a section says, or the file that it shares."""

    default: Default | None
    preset: bool
    rules: Mapping[str, Sequence[Rule]]

    def lines(self) -> Iterator[str]:
        """It in TOML."""
        if self.default is not None:
            yield f'default = "{self.default}"'
        if self.preset:
            yield 'preset = "coding"'
        for name in LISTS:
            if self.rules[name]:
                yield f"{name} = [{', '.join(map(_written, self.rules[name]))}]"


@dataclass(frozen=True)
class Written:
    """A section as somebody writes it."""

    agent: str
    tool: str
    own: Part
    shared: Part | None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The section's own words, then those of its file."""
        return (self.own,) if self.shared is None else (self.own, self.shared)

    @property
    def preset(self) -> bool:
        """Whether it has the preset."""
        return any(part.preset for part in self.parts)

    def rules(self, name: str) -> list[Rule]:
        """One of its lists, whole."""
        return [rule for part in self.parts for rule in part.rules[name]]

    def config(self) -> Config:
        """It as the order of evaluation wants it."""
        defaults: list[Default] = [part.default for part in self.parts if part.default]
        looking = LOOKING if self.preset else ()
        return Config(
            default=defaults[0] if defaults else "ask",
            allow=[*self.rules("allow"), *looking],
            allow_once=self.rules("allow_once"),
            deny=self.rules("deny"),
            denied_call_ids=frozenset(),
            declared={},
            rewritten={},
            own=frozenset(),
            chained=False,
        )


def _written(rule: Rule) -> str:
    params = ", ".join(f"{name} = {json.dumps(glob)}" for name, glob in rule.params.items())
    return f'{{ tool = "{rule.tool}", params = {{ {params} }} }}'


@dataclass
class Model:
    """What every section does in one session, by the order of evaluation."""

    sections: Sequence[Written]
    orders: dict[int, Order] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)
    told: Told = field(default_factory=lambda: Told("s", set()))

    def lines(self, agent: str, call: ToolCall, stage: Stage) -> frozenset[str]:
        """The lines that may decide, of which one does; ``person`` where somebody is asked."""
        number = next((n for n, one in enumerate(self.sections) if _takes(one, agent, call)), -1)
        nobody = Written("*", "*", Part(None, False, dict.fromkeys(LISTS, ())), None)
        section = nobody if number < 0 else self.sections[number]
        order = self.orders.setdefault(number, Order(section.config(), stage.clock))
        order.kept = self.kept
        expected = order.expected(self.told, call)
        for line in expected.lines if expected.what == "approved" else ():
            order.spend(self.told, line)
        if expected.what == "person":
            return frozenset({"person"})
        return frozenset(self._named(line, section, number) for line in expected.lines)

    def remember(self, verdict: CheckResult, call: ToolCall, answer: str, stage: Stage) -> None:
        """What somebody chose for always counts for the session."""
        if verdict.line == "person" and answer in ("always", "deny-always"):
            effect: Literal["allow", "deny"] = "allow" if answer == "always" else "deny"
            until = stage.clock() + timedelta(days=1)
            self.kept.append(Kept("", effect, call, "s", until))

    def _named(self, line: str, section: Written, number: int) -> str:
        kind, _, last = line.rpartition(" ")
        if kind == "allow rule" and int(last) > len(section.rules("allow")):
            return "preset coding"
        return line if line.startswith("remembered") else f"{line} of policy {number + 1}"


def _takes(section: Written, agent: str, call: ToolCall) -> bool:
    return fnmatchcase(agent, section.agent) and fnmatchcase(call.name, section.tool)


def rules() -> st.SearchStrategy[list[Rule]]:
    """A short list of rules."""
    params = st.sampled_from([{}, {"command": "ls"}, {"command": "rm*"}])
    return st.lists(st.builds(Rule, st.sampled_from(TOOLS), params), max_size=2)


@st.composite
def sections(draw: st.DrawFn) -> Written:
    """A section, maybe with a file; default and preset stand where they may."""
    named = st.fixed_dictionaries(dict.fromkeys(LISTS, rules()))
    defaults: list[Default | None] = [None, None, "ask", "allow"]
    default = draw(st.sampled_from(defaults))
    preset = default != "allow" and draw(st.booleans())
    own, shared = Part(default, preset, draw(named)), None
    if draw(st.booleans()):
        shared = Part(None, False, draw(named))
        if draw(st.booleans()):
            shared = replace(shared, default=default, preset=preset)
            own = replace(own, default=None, preset=False)
    return Written(
        draw(st.sampled_from(["*", "*", "deploy-*", "[dr]e*"])),
        draw(st.sampled_from(["*", "*", "git_*", "[bR]*"])),
        own,
        shared,
    )


# A case that fails is not made smaller: each try reads settings, and that takes minutes.
GENERATED = settings(
    phases=[Phase.explicit, Phase.generate], suppress_health_check=[HealthCheck.too_slow]
)
Step = tuple[str, str, str]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(TOOLS), st.sampled_from(["ls", "rm a", "make"]), st.sampled_from(ANSWERS)
    ),
    min_size=3,
    max_size=6,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("policies")


def settings_with(folder: Path, written: Sequence[Written]) -> Path:
    """A settings file with these sections, and theirs beside it."""
    text = [ROUTE]
    for number, section in enumerate(written):
        text += ["[[policy]]", f'agent = "{section.agent}"', f'tool = "{section.tool}"']
        text += section.own.lines()
        if section.shared is not None:
            text.append(f'file = "shared-{number}.toml"')
            (folder / f"shared-{number}.toml").write_text("\n".join(section.shared.lines()))
    config = folder / "sayso.toml"
    config.write_text("\n".join(text))
    return config


def explained(config: Path, agent: str, call: ToolCall) -> str:
    """The line that ``sayso explain`` names."""
    argv = ["explain", call.name, "--agent", agent, "--json", "--config", str(config)]
    said = io.StringIO()
    with redirect_stdout(said):
        assert main([*argv, "--arguments", json.dumps(dict(call.arguments))], {}) == 0
    found: dict[str, Any] = json.loads(said.getvalue())
    return "person" if found["ruling"] == "ask" else str(found["line"])


@GENERATED
@given(st.lists(sections(), min_size=1, max_size=3), st.sampled_from(AGENTS), STEPS)
def test_a_gate_does_what_the_order_of_evaluation_says_of_the_first_section_that_matches(
    folder: Path, written: list[Written], agent: str, steps: list[Step]
) -> None:
    config = settings_with(folder, written)
    policy = Rereading(str(config), SLACK).read().settings.policies

    async def played() -> None:
        answer = ""

        def answering(prompt: Prompt) -> str:
            return answer

        run = RunRef(agent, "s")
        async with Stage(policy=policy, answers=answering, run=run) as stage:
            model = Model(written)
            for tool, command, answer in steps:
                call = ToolCall(tool, {"command": command})
                lines = model.lines(agent, call, stage)
                verdict = await stage.gate.check(call)
                assert verdict.line in lines, (lines, verdict)
                model.remember(verdict, call, answer, stage)

    asyncio.run(played())


@GENERATED
@given(st.lists(sections(), min_size=1, max_size=3), st.sampled_from(AGENTS), STEPS)
def test_explain_names_the_line_that_decides_at_a_gate(
    folder: Path, written: list[Written], agent: str, steps: list[Step]
) -> None:
    config = settings_with(folder, written)
    policy = Rereading(str(config), SLACK).read().settings.policies

    async def line_of(number: int, call: ToolCall) -> str:
        run = RunRef(agent, f"s-{number}")
        async with Stage(policy=policy, answers=lambda _: "allow", run=run) as stage:
            return (await stage.gate.check(call)).line

    for number, (tool, command, _) in enumerate(steps[:3]):
        call = ToolCall(tool, {"command": command})
        assert explained(config, agent, call) == asyncio.run(line_of(number, call))
