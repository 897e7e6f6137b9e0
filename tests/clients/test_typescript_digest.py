"""A caller in TypeScript computes the digest that the server computes, run by Node."""

from __future__ import annotations

import hashlib
import json
from random import Random
from typing import Any

import pytest
from support.typescript import Project

from sayso.digests import arguments_digest

# What JSON.parse makes of each line, as JSON again and with its digest.
DIGESTS = """
import { readFileSync } from "node:fs";
import { argumentsDigest } from "sayso-client";
const said = [];
for (const line of readFileSync(0, "utf8").split("\\n")) {
  const args = JSON.parse(line);
  said.push([JSON.stringify(args), await argumentsDigest(args)]);
}
console.log(JSON.stringify(said));
"""

# Doubles of random bits, as a caller in JavaScript would send them.
DOUBLES = """
import { argumentsDigest } from "sayso-client";
const bits = new DataView(new ArrayBuffer(8));
let state = 88172645463325252n;
const random = () => {
  state ^= (state << 13n) & 0xffffffffffffffffn;
  state ^= state >> 7n;
  state ^= (state << 17n) & 0xffffffffffffffffn;
  return state;
};
const said = [];
while (said.length < 5000) {
  bits.setBigUint64(0, random());
  const wide = bits.getFloat64(0);
  const near = Number(random() >> 43n) * 10 ** (Number(random() % 40n) - 20);
  for (const n of [wide, near, Math.round(near), Number(random() >> 3n)]) {
    if (Number.isFinite(n)) said.push([JSON.stringify({ n }), await argumentsDigest({ n })]);
  }
}
console.log(JSON.stringify(said));
"""


CASES: list[dict[str, Any]] = [
    {},
    {"command": "terraform apply"},
    {"b": {"d": [1, {"z": 1, "y": [[], {}]}], "c": None}, "a": [True, False]},
    dict.fromkeys(["\u20ac", "\r", "\ufb33", "1", "10", "9", "\U0001f600", "\x80", "ö", ""], 0),
    {"__proto__": {"constructor": 1}, "toString": "x"},
    {"text": '\u0000\u001f\u007f\u2028\u2029\ufeff é e\u0301 日本語 🙂 "\\/ </script> \b\f\n\r\t'},
    {"n": [0.0, -0.0, 1.0, 1e20, 1e21, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, 1 / 3]},
    {"n": [2**53 - 1, -(2**53) + 1, 2**53, 295147905179352830000, 100, -5]},
]


def test_node_and_python_agree_on_keys_text_numbers_and_nesting(project: Project) -> None:
    lines = [json.dumps(case, ensure_ascii=number % 2 == 0) for number, case in enumerate(CASES)]

    said = project.run(DIGESTS, "\n".join(lines))

    assert [digest for _, digest in said] == [arguments_digest(case) for case in CASES]


def test_node_and_python_agree_on_numbers_of_javascript(project: Project) -> None:
    said = project.run(DOUBLES)

    assert len(said) >= 5_000
    wrong = [text for text, digest in said if arguments_digest(json.loads(text)) != digest]
    assert wrong == []


def anything(random: Random, depth: int = 0) -> Any:
    """A JSON value that JavaScript holds, at most five deep."""
    kind = random.randrange(8 if depth < 5 else 6)
    if kind < 2:
        return random.choice([None, True, False, 0.1, 1e21, -1.5e-9, ""])
    if kind == 2:
        return random.randint(-(2**53) + 1, 2**53 - 1)
    if kind == 3:
        return random.uniform(-1, 1) * 10 ** random.randint(-30, 30)
    if kind < 6:
        return text(random)
    items = [anything(random, depth + 1) for _ in range(random.randrange(5))]
    return items if kind == 6 else {text(random): item for item in items}


def text(random: Random) -> str:
    planes = [(0, 0x7F), (0x80, 0x7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
    return "".join(chr(random.randint(*random.choice(planes))) for _ in range(random.randrange(6)))


def test_node_and_python_agree_on_arguments_of_any_form(project: Project) -> None:
    random = Random(8785)
    cases = [{text(random): anything(random) for _ in range(4)} for _ in range(2_000)]

    said = project.run(DIGESTS, "\n".join(map(json.dumps, cases)))

    digests = [digest for _, digest in said]
    assert digests == [arguments_digest(case) for case in cases]
    # What Node sends on has the same digest here.
    assert digests == [arguments_digest(json.loads(sent)) for sent, _ in said]


# Canonical JSON of values written as JavaScript, or how they are refused.
CANONICAL = """
import { argumentsDigest, canonicalJson } from "sayso-client";
const said = [];
for (const args of [VALUES]) {
  try {
    said.push(await argumentsDigest(args));
  } catch (error) {
    said.push(`${error.name}: ${error.message}`);
  }
}
console.log(JSON.stringify(said));
"""


_NUMBERS = "5e-324,1.7976931348623157e{}308,9007199254740992,295147905179352830000"
# As they are written in JavaScript, and their canonical form.
FORMS = [
    (
        r"""{"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "no": [null, false]}""",
        r"""{"no":[null,false],"string":"€$\u000f\nA'B\"\\\\\"/"}""",
    ),
    (
        '{"n": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]}',
        '{"n":[333333333.3333333,1e+30,4.5,0.002,1e-27]}',
    ),
    (
        r'{"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7}',
        '{"\\r":2,"1":4,"\x80":6,"ö":7,"€":1,"\U0001f600":5,"\ufb33":3}',
    ),
    (
        '{"n": [-0, NUMBERS, 9.999999999999997e22, 1e23, 1e-7, 0.000001]}',
        '{"n":[0,NUMBERS,9.999999999999997e+22,1e+23,1e-7,0.000001]}',
    ),
]
FORMS = [
    (value.replace("NUMBERS", _NUMBERS.format("")), text.replace("NUMBERS", _NUMBERS.format("+")))
    for value, text in FORMS
]


def test_the_canonical_form_is_that_of_rfc_8785(project: Project) -> None:
    """What the text of the RFC shows: section 3.2.2, 3.2.3 and numbers of appendix B."""
    said = project.run(CANONICAL.replace("VALUES", ", ".join(value for value, _ in FORMS)))

    texts = [text for _, text in FORMS]
    assert said == [f"jcs-sha256:{hashlib.sha256(text.encode()).hexdigest()}" for text in texts]
    assert said == [arguments_digest(json.loads(text)) for text in texts]


@pytest.mark.parametrize(
    "value",
    [
        r'{"a": "\ud800"}',
        r'{"\udc00": 1}',
        "{a: NaN}",
        "{a: [1, Infinity]}",
        "{a: 1n}",
        "{a: () => 1}",
        "{a: Symbol()}",
        "{a: new Map()}",
        "{a: [undefined]}",
        "{a: new (class Money { toJSON() { return 1; } })()}",
        "{a: new Date(NaN)}",
        "(() => { const a = {}; a.a = a; return a; })()",
        "[1]",
        "null",
        "'text'",
    ],
)
def test_what_a_person_could_not_see_as_it_is_is_refused(project: Project, value: str) -> None:
    [said] = project.run(CANONICAL.replace("VALUES", value))

    assert said.startswith(("ArgumentsError: ", "RangeError: "))


def test_what_is_undefined_is_left_out_and_a_date_is_its_text(project: Project) -> None:
    value = "{a: undefined, b: new Date(0), ['__proto__']: 1}"

    [said] = project.run(CANONICAL.replace("VALUES", value))

    assert said == arguments_digest({"b": "1970-01-01T00:00:00.000Z", "__proto__": 1})
