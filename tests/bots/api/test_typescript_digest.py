"""A caller in TypeScript computes the digest that the server computes, run by Node."""

from __future__ import annotations

import json
import subprocess
from random import Random
from typing import Any

from support.typescript import CLIENT, node

from sayso.digests import arguments_digest

# What JSON.parse makes of each line, as JSON again and with its digest.
DIGESTS = """
import { readFileSync } from "node:fs";
const { argumentsDigest } = await import(process.argv[1]);
const said = [];
for (const line of readFileSync(0, "utf8").split("\\n")) {
  const args = JSON.parse(line);
  said.push([JSON.stringify(args), await argumentsDigest(args)]);
}
console.log(JSON.stringify(said));
"""

# Doubles of random bits, as a caller in JavaScript would send them.
DOUBLES = """
const { argumentsDigest } = await import(process.argv[1]);
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


def run(script: str, lines: str = "") -> list[tuple[str, str]]:
    """What the script prints: JSON texts with their digests."""
    done = subprocess.run(
        [node(), "--input-type=module", "--eval", script, str(CLIENT)],
        input=lines,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    return [(text, digest) for text, digest in json.loads(done.stdout)]


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


def test_node_and_python_agree_on_keys_text_numbers_and_nesting() -> None:
    lines = [json.dumps(case, ensure_ascii=number % 2 == 0) for number, case in enumerate(CASES)]

    said = run(DIGESTS, "\n".join(lines))

    assert [digest for _, digest in said] == [arguments_digest(case) for case in CASES]


def test_node_and_python_agree_on_numbers_of_javascript() -> None:
    said = run(DOUBLES)

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


def test_node_and_python_agree_on_arguments_of_any_form() -> None:
    random = Random(8785)
    cases = [{text(random): anything(random) for _ in range(4)} for _ in range(2_000)]

    said = run(DIGESTS, "\n".join(map(json.dumps, cases)))

    digests = [digest for _, digest in said]
    assert digests == [arguments_digest(case) for case in cases]
    # What Node sends on has the same digest here.
    assert digests == [arguments_digest(json.loads(sent)) for sent, _ in said]
