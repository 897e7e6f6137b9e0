/**
 * For the AI SDK (`ai` 6 and 7): ask before a tool runs. Nothing of it is imported here.
 *
 * `guard` wraps the tools themselves and holds in both versions. `toolApproval` is a setting of
 * version 7; version 6 ignores it and runs the tool, so it is not made there.
 */

import { canonicalJson, plainArguments, type Arguments } from "./json.js";
import type { CheckOptions, Sayso } from "./sayso.js";
import type { Verdict } from "./verdict.js";
import { versionOf, type Loaded } from "./version.js";

export type { Loaded };

/** The version of `ai` whose `toolApproval` is known to be asked before a tool runs. */
const APPROVES = 7;
const LONGEST_CAUSE = 300;

export interface GuardOptions extends Omit<CheckOptions, "signal" | "key"> {
  /** Tools without an `execute`, which run elsewhere, and whose calls are nobody's business here. */
  elsewhere?: readonly string[];
}

export interface ApprovalOptions extends Omit<CheckOptions, "key"> {}

export type Approval = "approved" | { type: "denied"; reason: string };

/** How the AI SDK asks whether a call may run, as far as it is needed here. */
export type ApprovalFunction = (asked: {
  toolCall: { toolName: string; toolCallId: string; input: unknown };
}) => Promise<Approval>;

/** `ai` would ignore the approval, or it is not known whether it would: nothing was set up. */
export class UnsupportedError extends Error {
  override readonly name = "UnsupportedError";
}

interface Execution {
  toolCallId?: string;
  abortSignal?: AbortSignal | undefined;
}

type Execute = (this: unknown, input: unknown, options: Execution) => unknown;
type AnyTool = { execute?: unknown; inputSchema?: unknown; toModelOutput?: unknown };
type ToModelOutput = (this: unknown, given: { output?: unknown }) => unknown;

/**
 * The tools, each of which asks before it runs: a denial is its result, for the model to read.
 *
 * An edited call runs with the person's arguments, if the tool's `inputSchema` takes them. The
 * signal of the run withdraws the question. A tool without an `execute` runs where nobody could be
 * asked, so it has to be named in `elsewhere`.
 */
export function guard<Tools extends object>(
  sayso: Sayso,
  tools: Tools,
  options: GuardOptions = {},
): Tools {
  const { elsewhere = [], ...how } = options;
  const guarded = Object.entries(tools as Record<string, AnyTool>).map(([name, tool]) => {
    if (elsewhere.includes(name)) return [name, tool] as const;
    if (typeof tool?.execute !== "function") {
      throw new UnsupportedError(
        `${name} has no execute function, so it runs where nobody can be asked: ` +
          `ask there, and name it in { elsewhere: [${JSON.stringify(name)}] }`,
      );
    }
    return [name, guardedTool(sayso, name, tool, tool.execute as Execute, how)] as const;
  });
  return Object.fromEntries(guarded) as Tools;
}

/**
 * `toolApproval` of `ai` 7: every call of every tool is asked about before it runs.
 *
 * `loaded` shows which version that is: `import.meta` of the file that imports `ai`, or, where a
 * bundler stands between, the imported `ai/package.json`. With any other version, or where that
 * cannot be seen, it throws.
 *
 * It cannot pass other arguments on, so an edit is a denial that tells the model what was wanted.
 * It is not told of the run's signal either: pass it in the options.
 */
export function toolApproval(
  sayso: Sayso,
  loaded: Loaded,
  options: ApprovalOptions = {},
): ApprovalFunction {
  const version = versionOf("ai", loaded);
  if (version instanceof Error) {
    throw new UnsupportedError(
      `it is not known which version of ai is loaded (${version.message}): pass import.meta, or ` +
        'the package.json: import ai from "ai/package.json" with { type: "json" }',
    );
  }
  if (Number(/^\d+(?=\.)/.exec(version)?.[0]) !== APPROVES) {
    throw new UnsupportedError(
      `ai ${version} is not known to ask toolApproval before a tool runs; version 6 runs the tool ` +
        `without asking. Use ai ${APPROVES}, or wrap the tools: tools: guard(sayso, tools)`,
    );
  }
  return async ({ toolCall }) => {
    const { toolName: name, toolCallId: callId, input } = toolCall;
    const said = await asked(sayso, { name, callId, arguments: input }, options);
    if (typeof said === "string") return { type: "denied", reason: said };
    if (said.edited) return { type: "denied", reason: makeThisInstead(said) };
    // It runs with what it holds by then: that must be what was asked about.
    return holds(input, said.arguments) ? "approved" : { type: "denied", reason: changed(name) };
  };
}

function guardedTool<T extends AnyTool>(
  sayso: Sayso,
  name: string,
  tool: T,
  execute: Execute,
  options: CheckOptions,
): T {
  const run = async (input: unknown, given: Execution): Promise<[unknown, string]> => {
    const { toolCallId, abortSignal: signal } = given;
    const call = { name, arguments: input, ...(toolCallId === undefined ? {} : { callId: toolCallId }) };
    const said = await asked(sayso, call, { ...options, signal });
    if (typeof said === "string") return [said, ""];
    signal?.throwIfAborted();
    if (said.edited) {
      const fitting = await fitted(tool.inputSchema, said.arguments);
      if ("problem" in fitting) return [doesNotFit(name, fitting.problem), ""];
      return [execute.call(tool, fitting.value, given), said.text];
    }
    if (!holds(input, said.arguments)) return [changed(name), ""];
    return [execute.call(tool, input, given), ""];
  };
  const wrapped = isGenerator(execute)
    ? async function* (input: unknown, given: Execution = {}) {
        const [result, told] = await run(input, given);
        if (!isIterable(result)) yield result;
        else for await (const part of result) yield withNote(part, told);
      }
    : async (input: unknown, given: Execution = {}) => {
        const [result, told] = await run(input, given);
        return withNote(await lastOf(result), told);
      };
  const { toModelOutput } = tool;
  const spoken =
    typeof toModelOutput === "function"
      ? { toModelOutput: speaking(tool, toModelOutput as ToModelOutput) }
      : {};
  // A tool keeps whatever else it is; approvals of its own come before it runs, as ever.
  const same = Object.assign(Object.create(Object.getPrototypeOf(tool)), tool) as T;
  return Object.assign(same, spoken, { execute: wrapped });
}

/** How a tool puts its results to the model, which may expect others than the text of a denial. */
function speaking(tool: AnyTool, toModelOutput: ToModelOutput): ToModelOutput {
  return async (given) => {
    try {
      return await toModelOutput.call(tool, given);
    } catch (error) {
      if (typeof given?.output !== "string") throw error;
      return { type: "text", value: given.output };
    }
  };
}

/** The verdict that lets the call run; otherwise what the model is told. Aborts are passed on. */
async function asked(
  sayso: Sayso,
  call: { name: string; callId?: string; arguments: unknown },
  options: CheckOptions,
): Promise<Verdict | string> {
  try {
    plainArguments(call.arguments);
    const verdict = await sayso.check(call, options);
    return verdict.allowed === true ? verdict : verdict.text;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    const cause = error instanceof Error ? error.message : String(error);
    return (
      `The call of ${call.name} was not approved: ${cause.slice(0, LONGEST_CAUSE)}. It did not run.`
    );
  }
}

/** Whether the input still is what was approved, at this very moment. */
function holds(input: unknown, approved: Arguments): boolean {
  try {
    return canonicalJson(plainArguments(input)) === canonicalJson(approved);
  } catch {
    return false;
  }
}

/** What the tool takes of edited arguments, or why it takes none. */
async function fitted(
  schema: unknown,
  edited: unknown,
): Promise<{ value: unknown } | { problem: string }> {
  const known = (typeof schema === "function" && !("~standard" in schema) ? schema() : schema) as
    | { "~standard"?: StandardSchema; validate?: Validate }
    | undefined;
  const standard = known?.["~standard"];
  if (standard !== undefined) {
    const result = await standard.validate(edited);
    if (result.issues === undefined) return { value: result.value };
    return { problem: result.issues.map((issue) => issue.message).join("; ") };
  }
  if (typeof known?.validate === "function") {
    const result = await known.validate(edited);
    return result.success ? { value: result.value } : { problem: String(result.error) };
  }
  return { value: edited };
}

interface StandardSchema {
  validate(value: unknown): MaybePromise<
    { value: unknown; issues?: undefined } | { issues: readonly { message: string }[] }
  >;
}
type Validate = (
  value: unknown,
) => MaybePromise<{ success: true; value: unknown } | { success: false; error: unknown }>;
type MaybePromise<T> = T | PromiseLike<T>;

function isGenerator(execute: Execute): boolean {
  return Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]";
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** A tool that streams what it does ends with its result. */
async function lastOf(result: unknown): Promise<unknown> {
  const found = await result;
  if (!isIterable(found)) return found;
  let last: unknown;
  for await (const part of found) last = part;
  return last;
}

/** Of a person's change the model is told, where the result is a text to put it before. */
function withNote(result: unknown, told: string): unknown {
  return told !== "" && typeof result === "string" ? `${told}\n\n${result}` : result;
}

function makeThisInstead(verdict: Verdict): string {
  return (
    `The call of ${verdict.tool} did not run: it was approved with other arguments only, which ` +
    `cannot be passed on from here. Make this call instead: ${JSON.stringify(verdict.arguments)}`
  );
}

function doesNotFit(name: string, problem: string): string {
  const why = problem.slice(0, LONGEST_CAUSE);
  return `The call of ${name} did not run: a person changed its arguments, and they do not fit: ${why}`;
}

function changed(name: string): string {
  return `The call of ${name} did not run: its arguments changed after they were approved.`;
}
