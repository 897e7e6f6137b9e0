/** How a question ended, held against the call that it is about. Whatever is not a clear yes is a no. */

import { MismatchError } from "./errors.js";
import { argumentsDigest, plainArguments, type Arguments } from "./json.js";

export type Outcome = "approved" | "denied" | "expired" | "cancelled" | "undeliverable" | "unknown";

export interface Verdict {
  /** Whether the call may run, with `arguments`. */
  readonly allowed: boolean;
  readonly outcome: Outcome;
  readonly tool: string;
  /** What it may run with: a copy of what was asked about, or what the person made of it. */
  readonly arguments: Arguments;
  /** Whether the person changed the arguments. */
  readonly edited: boolean;
  /** The digest of `arguments`. */
  readonly digest: string;
  readonly reason: string;
  /** Who decided, such as `slack:U0ALICE`; null where a rule or nobody did. */
  readonly decidedBy: string | null;
  readonly permissionId: string;
  /** For the model, in place of the tool's result, or beside it where the call was edited. */
  readonly text: string;
}

/** A call as it was asked about. */
export interface Question {
  readonly permissionId: string;
  readonly tool: string;
  readonly arguments: Arguments;
  readonly digest: string;
  /** Whether another caller may have asked it, under an id of its own. */
  readonly shared: boolean;
}

/** What the server says of a request. */
export interface Standing {
  readonly permissionId: string;
  readonly ending: Record<string, unknown> | null;
}

const ENDS: Readonly<Record<string, Outcome>> = {
  REQUEST_EXPIRED: "expired",
  REQUEST_CANCELLED: "cancelled",
  REQUEST_UNDELIVERABLE: "undeliverable",
};

/** What the server said of this very question; an answer about another one is an error. */
export function standingOf(told: unknown, question: Question): Standing {
  const { request, response } = object(told, "the answer");
  const asked = object(request, "the request");
  const { permissionId, type } = asked;
  if (type !== "PERMISSION_REQUEST" || typeof permissionId !== "string") {
    throw new MismatchError(`the server tells of another question than of ${question.tool}`);
  }
  const isOurs = question.shared || permissionId === question.permissionId;
  if (!isOurs || asked["functionName"] !== question.tool) {
    throw new MismatchError(`the server tells of another call than that of ${question.tool}`);
  }
  if (asked["argumentsDigest"] !== question.digest) {
    throw new MismatchError(`the arguments of ${question.tool} are not those that are asked about`);
  }
  const ending = response === null ? null : object(response, "the response");
  return { permissionId, ending };
}

/** What the ending of a question means for its call. */
export async function verdictOf(
  question: Question,
  permissionId: string,
  ending: Record<string, unknown>,
): Promise<Verdict> {
  const { tool } = question;
  const common = {
    tool,
    permissionId,
    reason: text(ending["reason"]),
    decidedBy: typeof ending["decidedBy"] === "string" ? ending["decidedBy"] : null,
  };
  const no = (outcome: Outcome): Verdict => ({
    ...common,
    allowed: false,
    outcome,
    arguments: question.arguments,
    edited: false,
    digest: question.digest,
    text: whyNot(tool, outcome, common.reason, common.decidedBy !== null, ending),
  });
  if (ending["type"] !== "PERMISSION_RESPONSE") return no(ENDS[text(ending["type"])] ?? "unknown");
  if (ending["permissionId"] !== permissionId) {
    throw new MismatchError(`the answer about ${tool} is one to another question`);
  }
  if (ending["approved"] !== true) return no(ending["approved"] === false ? "denied" : "unknown");
  if (ending["argumentsDigest"] !== question.digest) {
    throw new MismatchError(`the arguments of ${tool} are not those that were approved`);
  }
  const changed = ending["modifiedArguments"] ?? null;
  if (changed === null) {
    const { arguments: same, digest } = question;
    const yes = { allowed: true, outcome: "approved", edited: false } as const;
    return { ...common, ...yes, arguments: same, digest, text: `The call of ${tool} was approved.` };
  }
  return { ...common, ...(await edited(tool, changed, ending["modifiedDigest"])) };
}

async function edited(
  tool: string,
  changed: unknown,
  digest: unknown,
): Promise<Pick<Verdict, "allowed" | "outcome" | "arguments" | "edited" | "digest" | "text">> {
  const ours = plainArguments(changed);
  const found = await argumentsDigest(ours);
  if (digest !== found) {
    // Also where JavaScript cannot hold a number that was written: it would run with another one.
    throw new MismatchError(`the changed arguments of ${tool} are not those that were approved`);
  }
  const told =
    "A person changed this call before it ran, on purpose. " +
    `It ran with these arguments: ${JSON.stringify(ours)}`;
  const yes = { allowed: true, outcome: "approved", edited: true } as const;
  return { ...yes, arguments: ours, digest: found, text: told };
}

function whyNot(
  tool: string,
  outcome: Outcome,
  reason: string,
  byPerson: boolean,
  ending: Record<string, unknown>,
): string {
  const because = reason ? `: ${reason}` : "";
  const by = byPerson ? " by a person" : "";
  if (ending["asksForChanges"] === true && outcome === "denied") {
    return `The call of ${tool} did not run. Changes are asked for${by}${because}`;
  }
  const said = {
    approved: "was approved",
    denied: `was denied${by}${because}`,
    expired: "was not approved: nobody answered in time",
    cancelled: `was not approved: the question was cancelled${because}`,
    undeliverable: `was not approved: nobody could be asked${because}`,
    unknown: "was not approved: its question ended in a way that is not known here",
  }[outcome];
  return `The call of ${tool} ${said}. It did not run.`;
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new MismatchError(`${what} of the server is not what it should be`);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
