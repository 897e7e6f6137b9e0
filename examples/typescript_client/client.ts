// Ask a person from TypeScript: one file, nothing to install, Node 22.18 or later runs it as it is.
//
//   SAYSO_URL=http://127.0.0.1:8080 SAYSO_TOKEN=sayso_… node client.ts
//
// It opens the events of its branch, asks whether a command may run, and waits for the answer.
// When the connection breaks it resumes after the last event it saw: nothing is lost or repeated.
// Any number of calls may wait at once; each has a stream of its own.

export interface RunRef {
  agentId: string;
  sessionId: string;
  branchId: string;
  runId: string;
}

export interface PermissionRequest {
  type: "PERMISSION_REQUEST";
  permissionId: string;
  sourceName: string;
  functionName: string;
  description: string;
  callId: string;
  arguments: Record<string, unknown>;
  argumentsDigest: string;
  run: RunRef;
  expiresAt: string;
}

export interface PermissionResponse {
  type: "PERMISSION_RESPONSE";
  permissionId: string;
  sourceName: string;
  approved: boolean;
  reason: string;
  choice: "ask" | "always_allow" | "always_deny";
  argumentsDigest: string;
  modifiedArguments: Record<string, unknown> | null;
  decidedBy: string | null;
  decidedAt: string;
}

export interface RequestEnded {
  type: "REQUEST_EXPIRED" | "REQUEST_CANCELLED" | "REQUEST_UNDELIVERABLE";
  requestId: string;
  sourceName: string;
  reason: string;
  decidedAt: string;
}

export type Ending = PermissionResponse | RequestEnded;
export type BranchEvent = PermissionRequest | Ending | { type: string };

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  /** What is wrong where; of a 409 without a wrong field its detail under its code. */
  errors?: { pointer: string; detail: string }[] | Record<string, string[]>;
}

export class ProblemError extends Error {
  readonly problem: Problem;
  /** After how many milliseconds to come back, where it passes. */
  readonly wait: number;

  constructor(problem: Problem, wait = 1_000) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
    this.problem = problem;
    this.wait = wait;
  }
}

interface Asked {
  request: PermissionRequest;
  response: Ending | null;
}

interface Block {
  id: string | undefined;
  event: string;
  data: string | undefined;
}

const ATTEMPTS = 5;
/** How long to go on without a connection: at first, and after the request has expired. */
const GRACE = 60_000;
const BEGUN = Symbol("the stream is open, nothing after this is missed");

export class Branch {
  readonly #address: string;
  readonly #headers: { Authorization: string };

  constructor(url: string, token: string, agent: string, session: string, branch = "main") {
    const [a, s, b] = [agent, session, branch].map(encodeURIComponent);
    this.#address = `${url.replace(/\/$/, "")}/agents/${a}/sessions/${s}/branches/${b}`;
    this.#headers = { Authorization: `Bearer ${token}` };
  }

  /**
   * Ask whether a call may run, and wait until somebody says so or the request ends. An answer for
   * other arguments than `args` are by then is an error: what was shown is what runs.
   */
  async mayRun(
    functionName: string,
    args: Record<string, unknown>,
    timeout = "10m",
  ): Promise<Ending> {
    const ending = await this.#ending(functionName, args, timeout);
    if (ending.type !== "PERMISSION_RESPONSE" || !ending.approved) return ending;
    if (ending.argumentsDigest === (await argumentsDigest(args))) return ending;
    throw new Error(`the arguments of ${functionName} are not those that were approved: ask again`);
  }

  async #ending(
    functionName: string,
    args: Record<string, unknown>,
    timeout: string,
  ): Promise<Ending> {
    const body = {
      type: "PERMISSION_REQUEST",
      permissionId: crypto.randomUUID(), // a repeated call asks once
      functionName,
      arguments: args,
      timeout,
    };
    let asked: Asked | undefined;
    let giveUp = Date.now() + GRACE;
    for (;;) {
      const events = this.#follow("", () => giveUp);
      try {
        await events.next(); // listen before asking or looking: then no event is missed
        asked = asked
          ? await this.#call(`/requests/${body.permissionId}`)
          : await this.#call("/requests", body);
        if (asked.response !== null) return asked.response;
        giveUp = Date.parse(asked.request.expiresAt) + GRACE;
        for await (const event of events) {
          if (event !== BEGUN && endsRequest(event, body.permissionId)) return event;
        }
      } catch (error) {
        if (!(error instanceof ProblemError) || error.problem.status !== 410) throw error;
        // Events were missed, perhaps ours: listen from now on, and look how it stands.
      } finally {
        await events.return();
      }
    }
  }

  /**
   * The events of the branch, from now on or after one that you saw ("0": all that are kept),
   * across lost connections. After a ProblemError of status 410 some were missed: look at the
   * requests that matter, and begin again.
   */
  async *events(lastEventId = ""): AsyncGenerator<BranchEvent, void> {
    for await (const event of this.#follow(lastEventId)) if (event !== BEGUN) yield event;
  }

  async *#follow(
    lastEventId: string,
    giveUp = () => Infinity,
  ): AsyncGenerator<BranchEvent | typeof BEGUN, void> {
    let pause = 500;
    for (let begun = false; ; ) {
      let wait = pause;
      try {
        for await (const block of this.#stream(lastEventId)) {
          wait = pause = 500;
          if (block.event === "stream-error") break; // cut off: read on from the last event
          if (block.id !== undefined) lastEventId = block.id;
          if (block.data !== undefined) yield JSON.parse(block.data) as BranchEvent;
          else if (!begun && block.id !== undefined) {
            begun = true;
            yield BEGUN;
          }
        }
      } catch (error) {
        if (!passes(error) || Date.now() > giveUp()) throw error;
        if (error instanceof ProblemError) wait = Math.max(wait, error.wait);
      }
      await sleep(wait);
      pause = Math.min(2 * pause, 10_000);
    }
  }

  async *#stream(lastEventId: string): AsyncGenerator<Block, void> {
    const resume = lastEventId ? { "Last-Event-ID": lastEventId } : {};
    const response = await fetch(`${this.#address}/events`, {
      headers: { ...this.#headers, ...resume },
      redirect: "error", // the token is for this address alone
    });
    if (!response.ok || response.body === null) throw await problemOf(response);
    yield* blocks(response.body);
  }

  /** POST a body, or GET without one; both may be repeated. */
  async #call(path: string, body?: { permissionId: string }): Promise<Asked> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await fetch(this.#address + path, {
          method: body ? "POST" : "GET",
          headers: { ...this.#headers, "Content-Type": "application/json" },
          body: body ? JSON.stringify(body) : null,
          redirect: "error",
        });
        if (!response.ok) throw await problemOf(response);
        return (await response.json()) as Asked;
      } catch (error) {
        if (!passes(error) || attempt === ATTEMPTS) throw error;
        await sleep(error instanceof ProblemError ? error.wait : 1_000);
      }
    }
  }
}

/**
 * The digest of a call's arguments, as the server computes it: the SHA-256 of their JSON in the
 * canonical form of RFC 8785. An answer holds for the arguments of its digest and no others.
 */
export async function argumentsDigest(args: Record<string, unknown>): Promise<string> {
  const text = canonical(JSON.parse(JSON.stringify(args))); // what is sent: dates are strings there
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"));
  return `jcs-sha256:${hex.join("")}`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, item]) => [name, canonical(item)] as const);
  members.sort(([a], [b]) => (a < b ? -1 : 1)); // by UTF-16 code units
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${item}`).join(",")}}`;
}

/** Whether trying again may help: a connection that broke is a TypeError of fetch. */
function passes(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return error instanceof TypeError;
  return error.problem.status === 429 || error.problem.status >= 500;
}

/** What was refused; a proxy between may answer with something else than a problem document. */
async function problemOf(response: Response): Promise<ProblemError> {
  const { status } = response;
  const after = Number(response.headers.get("Retry-After") ?? 1);
  const wait = Number.isFinite(after) ? 1_000 * Math.max(1, after) : 1_000;
  if (response.headers.get("Content-Type") === "application/problem+json") {
    return new ProblemError((await response.json()) as Problem, wait);
  }
  const detail = (await response.text()).slice(0, 200);
  return new ProblemError({ type: "", title: "", status, code: "NotFromSayso", detail }, wait);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

function endsRequest(event: BranchEvent, id: string): event is Ending {
  if (event.type === "PERMISSION_RESPONSE") return (event as PermissionResponse).permissionId === id;
  return event.type.startsWith("REQUEST_") && (event as RequestEnded).requestId === id;
}

/** The blocks of a stream of server-sent events (WHATWG HTML, section 9.2.6). */
async function* blocks(body: ReadableStream<Uint8Array>): AsyncGenerator<Block, void> {
  const decoder = new TextDecoder();
  let buffer = "";
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      buffer += decoder.decode(part.value, { stream: true });
      for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
        yield parsed(buffer.slice(0, end));
        buffer = buffer.slice(end + 2);
      }
    }
  } finally {
    await reader.cancel();
  }
}

function parsed(text: string): Block {
  const block: Block = { id: undefined, event: "message", data: undefined };
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue; // a comment: the server lives
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") block.id = value;
    if (name === "event") block.event = value;
    if (name === "data") block.data = block.data === undefined ? value : `${block.data}\n${value}`;
  }
  return block;
}

if (import.meta.main ?? process.argv[1]?.endsWith("client.ts")) {
  const { SAYSO_URL, SAYSO_TOKEN, SAYSO_SESSION } = process.env;
  if (!SAYSO_URL || !SAYSO_TOKEN) {
    console.error("set SAYSO_URL and SAYSO_TOKEN");
    process.exit(2);
  }
  const branch = new Branch(SAYSO_URL, SAYSO_TOKEN, "deploy-bot", SAYSO_SESSION ?? "s-1");
  const ending = await branch.mayRun("run_command", { command: "terraform apply" }, "2m");
  console.log(JSON.stringify(ending));
  process.exit(ending.type === "PERMISSION_RESPONSE" && ending.approved ? 0 : 1);
}
