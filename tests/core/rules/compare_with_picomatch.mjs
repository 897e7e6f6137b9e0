// Asks picomatch for the answers in picomatch_generated.json.
//
//   npm install --no-save picomatch@4.0.7
//   node tests/core/rules/compare_with_picomatch.mjs           says where the stored answers differ
//   node tests/core/rules/compare_with_picomatch.mjs --write   stores picomatch's answers
//   node tests/core/rules/compare_with_picomatch.mjs --lines   [pattern, [value, ...]] a line from
//                                                        standard input, answers a line as 0 and 1
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import vm from "node:vm";

const picomatch = createRequire(process.cwd() + "/")("picomatch");
const table = new URL("picomatch_generated.json", import.meta.url);
const context = vm.createContext({ picomatch, pattern: "", values: [] });
const script = new vm.Script(
  "{ const is = picomatch(pattern, { bash: true }); values.map((value) => (is(value) ? 1 : 0)).join('') }",
);

// Some patterns never come back: picomatch loops, or the expression backtracks.
function answers(pattern, values) {
  Object.assign(context, { pattern, values });
  try {
    return script.runInContext(context, { timeout: 500 });
  } catch (error) {
    return "?";
  }
}

if (process.argv.includes("--lines")) {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(answers(...JSON.parse(line)) + "\n");
  }
} else {
  const stored = JSON.parse(readFileSync(table, "utf8"));
  let different = 0;
  for (const row of stored.rows) {
    const found = answers(row[1], row[2]);
    if (found !== row[3]) {
      different += 1;
      console.log(JSON.stringify(row), "picomatch:", found);
      row[3] = found;
    }
  }
  console.log(`${stored.rows.length} patterns, ${different} different`);
  if (process.argv.includes("--write")) {
    const rows = stored.rows.map((row) => JSON.stringify(row)).join(",\n");
    const head = JSON.stringify({ ...stored, rows: undefined }).slice(0, -1);
    writeFileSync(table, `${head},"rows":[\n${rows}\n]}\n`);
  } else if (different) {
    process.exitCode = 1;
  }
}
