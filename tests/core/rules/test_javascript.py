"""Values as JavaScript's String(value) writes them."""

from __future__ import annotations

import json
import random
import shutil
import struct
import subprocess
from typing import Any

import pytest

from sayso.rules.javascript import as_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (None, "null"),
        (1, "1"),
        (1.0, "1"),
        (0.5, "0.5"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (10**21, "1e+21"),
        (10**400, "Infinity"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (9007199254740993, "9007199254740992"),
        (1e-6, "0.000001"),
        (1.5e-7, "1.5e-7"),
        (5e-324, "5e-324"),
        (123.456, "123.456"),
        ([], ""),
        ([[]], ""),
        ([None], ""),
        ([1, [2, None], "x"], "1,2,,x"),
        ([{}], "[object Object]"),
        ({"a": 1}, "[object Object]"),
        ("x", "x"),
    ],
)
def test_odd_values(value: Any, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here: apt-get install nodejs")
def test_any_number_reads_as_in_node() -> None:
    chance = random.Random(7)
    numbers: list[float] = [chance.randint(-(2**60), 2**60) for _ in range(500)]
    for _ in range(2_000):
        number = struct.unpack("d", struct.pack("Q", chance.getrandbits(64)))[0]
        if number == number and abs(number) != float("inf"):
            numbers.append(number)
    program = "console.log(JSON.stringify(JSON.parse(process.argv[1]).map(String)))"

    done = subprocess.run(
        ["node", "-e", program, json.dumps(numbers)], capture_output=True, check=True
    )

    assert [as_text(number) for number in numbers] == json.loads(done.stdout)
