// Ask a person from TypeScript: one file, nothing to install, Node 22.18 or later runs it as it is.
//
//   ASSENT_URL=http://127.0.0.1:8080 ASSENT_TOKEN=assent_… node client.ts
//
// It opens the events of its branch, asks whether a command may run, and waits for the answer.
// When the connection breaks it resumes after the last event it saw: nothing is lost or repeated.

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
  errors?: { pointer: string; detail: string }[];
}

export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`);
    this.problem = problem;
  }
}

interface Block {
  id: string | undefined;
  event: string;
  data: string | undefined;
}

export class Branch {
  readonly #address: string;
  readonly #headers: Record<string, string>;
  #lastEventId = "";

  constructor(url: string, token: string, agent: string, session: string, branch = "main") {
    const [a, s, b] = [agent, session, branch].map(encodeURIComponent);
    this.#address = `${url.replace(/\/$/, "")}/agents/${a}/sessions/${s}/branches/${b}`;
    this.#headers = { Authorization: `Bearer ${token}` };
  }

  /** Ask whether a call may run, and wait until somebody says so or the request ends. */
  async mayRun(
    functionName: string,
    args: Record<string, unknown>,
    timeout = "10m",
  ): Promise<Ending> {
    const body = {
      type: "PERMISSION_REQUEST",
      permissionId: crypto.randomUUID(), // a repeated call asks once
      functionName,
      arguments: args,
      timeout,
    };
    const events = this.events();
    const first = events.next(); // connect before asking: then no event is missed
    await Promise.race([this.#connected, first]); // a refusal is thrown here
    const { request, response } = await this.#post("/requests", body);
    if (response !== null) return response;
    for (let next = await first; !next.done; next = await events.next()) {
      if (endsRequest(next.value, request.permissionId)) {
        await events.return(undefined);
        return next.value;
      }
    }
    throw new Error("the events ended");
  }

  /** The events of the branch from now on, across lost connections. */
  async *events(): AsyncGenerator<BranchEvent, void> {
    let pause = 500;
    for (;;) {
      try {
        for await (const block of this.#stream()) {
          pause = 500;
          if (block.event === "stream-error") break; // cut off: read on from the last event
          if (block.data !== undefined) yield JSON.parse(block.data) as BranchEvent;
        }
      } catch (error) {
        // A refusal stays one; a broken connection does not.
        if (error instanceof ProblemError && error.problem.status < 500) throw error;
      }
      await new Promise((done) => setTimeout(done, pause));
      pause = Math.min(2 * pause, 10_000);
    }
  }

  #open: () => void = () => undefined;
  #connected = new Promise<void>((done) => (this.#open = done));

  async *#stream(): AsyncGenerator<Block, void> {
    const resume = this.#lastEventId ? { "Last-Event-ID": this.#lastEventId } : {};
    const response = await fetch(`${this.#address}/events`, {
      headers: { ...this.#headers, ...resume },
    });
    if (!response.ok || response.body === null) {
      throw new ProblemError((await response.json()) as Problem);
    }
    for await (const block of blocks(response.body)) {
      if (block.id !== undefined) this.#lastEventId = block.id;
      this.#open();
      yield block;
    }
  }

  async #post(
    path: string,
    body: unknown,
  ): Promise<{ request: PermissionRequest; response: Ending | null }> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(this.#address + path, {
        method: "POST",
        headers: { ...this.#headers, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      if (response.ok) {
        return (await response.json()) as { request: PermissionRequest; response: Ending | null };
      }
      const problem = (await response.json()) as Problem;
      if (![429, 503].includes(problem.status) || attempt === 5) throw new ProblemError(problem);
      const seconds = Number(response.headers.get("Retry-After") ?? 1);
      await new Promise((done) => setTimeout(done, seconds * 1000));
    }
  }
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
  const { ASSENT_URL, ASSENT_TOKEN, ASSENT_SESSION } = process.env;
  if (!ASSENT_URL || !ASSENT_TOKEN) {
    console.error("set ASSENT_URL and ASSENT_TOKEN");
    process.exit(2);
  }
  const branch = new Branch(ASSENT_URL, ASSENT_TOKEN, "deploy-bot", ASSENT_SESSION ?? "s-1");
  const ending = await branch.mayRun("run_command", { command: "terraform apply" }, "2m");
  console.log(JSON.stringify(ending));
  process.exit(ending.type === "PERMISSION_RESPONSE" && ending.approved ? 0 : 1);
}
