/** Sayso from TypeScript: an agent asks, a person answers in the chat, the agent goes on. */

export { MismatchError, ProblemError, UnreachableError, type Problem } from "./errors.js";
export type { BranchEvent } from "./events.js";
export { argumentsDigest, canonicalJson, ArgumentsError, type Arguments, type Json } from "./json.js";
export { Sayso, type Call, type CheckOptions, type SaysoOptions } from "./sayso.js";
export type { Outcome, Verdict } from "./verdict.js";
