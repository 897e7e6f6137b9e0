"""Every verdict is justified by the order of evaluation, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.order_of_evaluation import Config
from support.playing_gates import SESSIONS, World
from support.steps_of_a_play import Answer, Check, Step

from sayso import Decision, ToolCall
from sayso.rules.rule import Rule
from sayso.testing import Stage

COMMANDS = st.sampled_from(["ls", "ls", "ls -l", "rm x"])
TOOLS = st.sampled_from(["bash", "bash", "bash", "read"])
IDS = st.sampled_from(["c1", "c2", "c3", "c4"])
CALLS = st.builds(
    lambda tool, command, more, call_id: ToolCall(tool, {"command": command, **more}, call_id),
    TOOLS,
    COMMANDS,
    st.sampled_from([{}, {}, {}, {"cwd": "a"}]),
    IDS,
)
PATTERNS = st.sampled_from([{}, {"command": "ls"}, {"command": "ls*"}, {"command": "rm *"}])
RULES = st.builds(Rule, TOOLS, PATTERNS | st.just({"command": "*", "cwd": "a"}))
NUMBERS = st.sampled_from([0, 0, 1, 2])
MEANWHILE = st.one_of(
    st.tuples(st.sampled_from(["require", "disable", "clear"]), NUMBERS, TOOLS),
    st.tuples(
        st.just("store"),
        st.sampled_from(SESSIONS),
        st.sampled_from(["session", "session", "agent"]),
        st.sampled_from(["allow", "allow", "deny"]),
        RULES,
        st.sampled_from([1, 24]),
    ),
    st.tuples(st.just("deny_this"), st.sampled_from(["id", "call", "store"])),
    st.tuples(st.just("revoke"), st.integers(0, 1)),
    st.tuples(st.just("pass"), st.sampled_from([timedelta(minutes=40), timedelta(hours=25)])),
)
KEYS = st.sampled_from(["allow", "allow", "always", "always", "deny", "deny-always", None])
SOMETIMES = st.just(()) | st.lists(MEANWHILE, min_size=1, max_size=2)
ANSWERS = st.builds(Answer, KEYS, SOMETIMES)
CHECKS = st.builds(
    Check,
    st.sampled_from(["check", "check", "before", "submit", "submit"]),
    NUMBERS,
    CALLS,
    st.builds(Answer, st.sampled_from(["allow", "allow", "deny", None]), SOMETIMES),
    ANSWERS,
)
LATER = SOMETIMES | st.just((("deny_this", "store"),))
STEPS = st.lists(
    st.one_of(
        CHECKS,
        CHECKS,
        CHECKS,
        # Mapped, a choice stays one choice among the others.
        MEANWHILE.map(tuple),
        st.tuples(st.just("iterate"), NUMBERS),
        st.tuples(st.just("resume"), st.integers(0, 1), ANSWERS, LATER, st.integers(0, 1)),
    ),
    min_size=10,
    max_size=20,
)
REWRITTEN = st.dictionaries(
    COMMANDS,
    st.tuples(st.sampled_from([Decision.ALLOW, Decision.ASK, Decision.ASK]), COMMANDS),
    min_size=1,
    max_size=1,
)
NOTHING = st.just(())
TWICE = RULES.map(lambda rule: [rule, rule])
CONFIGS = st.builds(
    Config,
    default=st.sampled_from(["ask", "ask", "allow"]),
    allow=NOTHING | st.lists(RULES, max_size=1),
    allow_once=NOTHING | st.lists(RULES, max_size=2) | TWICE,
    deny=NOTHING | st.lists(RULES, max_size=1),
    denied_call_ids=NOTHING.map(frozenset) | st.just(frozenset({"c4"})),
    declared=NOTHING.map(dict) | st.dictionaries(TOOLS, st.booleans(), max_size=1),
    rewritten=NOTHING.map(dict) | REWRITTEN,
    own=NOTHING.map(frozenset) | st.frozensets(COMMANDS, min_size=1, max_size=1),
    chained=st.booleans(),
    changed=NOTHING.map(frozenset) | NOTHING.map(frozenset) | st.frozensets(COMMANDS, max_size=1),
)


@settings(
    max_examples=examples(400),
    derandomize=True,
    database=None,
    # Without the phase that explains failures: it traces every line, and is slow before 3.12.
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(config=CONFIGS, steps=STEPS)
def test_every_verdict_is_justified_by_the_order_of_evaluation(
    config: Config, steps: list[Check | Step]
) -> None:
    async def played() -> None:
        async with Stage() as stage:
            stage.hold()
            await World(config, stage).play(steps)

    asyncio.run(played())
