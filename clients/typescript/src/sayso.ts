/** Ask a person whether calls may run, and wait for the answer. */

import { MismatchError, ProblemError } from "./errors.js";
import { follow, SILENCE, type BranchEvent } from "./events.js";
import { Http, passes, sleep } from "./http.js";
import { argumentsDigest, plainArguments } from "./json.js";
import { standingOf, verdictOf, type Question, type Standing, type Verdict } from "./verdict.js";

const SECOND = 1_000;
/** The server cuts longer waits. */
const LOOK = 25 * SECOND;
const LOOK_AGAIN = 0.5 * SECOND;
/** What may be late beyond a look: the way there and back. */
const ON_THE_WAY = 20 * SECOND;
/** The server lets nothing live longer than 30 days. */
const LONGEST = 31 * 24 * 3_600 * SECOND;
/** Whoever leaves is not held up for longer by a question that cannot be withdrawn. */
const WITHDRAWING = 2 * SECOND;
/** A call is not held up for longer by the one before it, which is asked first. */
const IN_ORDER = 1 * SECOND;
const MOST_TOGETHER = 32;

export interface SaysoOptions {
  /** Where `sayso serve` answers, such as `https://sayso.example.com`. */
  url: string;
  /** A token of the settings that speaks for the agent. */
  token: string;
  /** The agent's name; it chooses the route, and with that who is asked. */
  agent: string;
  /** What *Always* is remembered for: a conversation, a thread, a job. */
  session: string;
  branch?: string;
  /** Calls of one run that come together share a card; a random one unless you name it. */
  runId?: string;
  /** How long a question lives, in seconds or as `"10m"`; the route's time unless you say so. */
  timeout?: number | string;
  /** For how many seconds of failures in a row to try again; 60 unless you say so. */
  patience?: number;
  fetch?: typeof fetch;
}

export interface Call {
  /** The tool's name. */
  name: string;
  arguments?: unknown;
  /** The framework's id of the call; a random one unless you name it. */
  callId?: string;
  /** What the card says of the call, in the agent's words. */
  description?: string;
}

export interface CheckOptions {
  /** When it aborts, the question is withdrawn, its card closed, and the check rejects. */
  signal?: AbortSignal | undefined;
  /** The session asks once about the call under this key, however often it is checked. */
  key?: string | undefined;
  timeout?: number | string | undefined;
  /** Whose wish it is, as an account: `slack:U0ALICE`. They cannot approve it. */
  requestedBy?: string | undefined;
  /** Whether the question ends with this check; true unless it has a key. */
  withdraw?: boolean | undefined;
}

export class Sayso {
  readonly #options: SaysoOptions & { branch: string; runId: string };
  readonly #http: Http;
  /** Done when the last call was asked about: calls are asked in the order they were made. */
  #asked: Promise<unknown> = Promise.resolve();

  constructor(options: SaysoOptions) {
    this.#options = { branch: "main", ...options, runId: options.runId ?? crypto.randomUUID() };
    const { url, token, agent, session, branch, patience = 60 } = this.#options;
    const names = { url, token, agent, session };
    for (const [name, value] of Object.entries(names)) {
      if (typeof value !== "string" || value === "") throw new TypeError(`${name} is not set`);
    }
    const [a, s, b] = [agent, session, branch].map(encodeURIComponent);
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new TypeError(`url ${JSON.stringify(url)} is not an address: write https://…`);
    }
    const { origin, pathname } = new URL(url);
    const address = `${origin}${pathname.replace(/\/$/, "")}/agents/${a}/sessions/${s}/branches/${b}`;
    const fetching = options.fetch ?? ((...how: Parameters<typeof fetch>) => fetch(...how));
    this.#http = new Http(address, token, fetching, patience * SECOND);
  }

  /** The same client for another session, branch or run. */
  in(where: { session?: string; branch?: string; runId?: string }): Sayso {
    const { runId: _, ...options } = this.#options;
    return new Sayso({ ...options, ...where });
  }

  /**
   * Ask whether the call may run, and wait until somebody says so or the question ends.
   *
   * The call may run if the verdict is `allowed`, with its `arguments`. Rejects where nobody knows:
   * then it must not run.
   */
  async check(call: Call, options: CheckOptions = {}): Promise<Verdict> {
    const before = this.#asked;
    const asked = new AbortController();
    this.#asked = once(asked.signal);
    try {
      const question = await this.#question(call, options);
      const body = this.#body(call, question, options);
      return (await this.#decided([question], options, async () => {
        const { unanswered } = this.#http;
        const { signal = unanswered } = options;
        await atMost(IN_ORDER, before, AbortSignal.any([unanswered, signal]));
        if (options.signal?.aborted) return []; // nothing was asked
        const told = await this.#post(body, options.key).finally(() => asked.abort());
        return [standingOf(told, question)];
      }))[0]!;
    } finally {
      asked.abort();
    }
  }

  /**
   * Ask about several calls at once: they share a card, and each has its own verdict, in order.
   *
   * All of them are asked, or none. With a key, each is asked under the key and its place.
   */
  async checkAll(calls: readonly Call[], options: CheckOptions = {}): Promise<Verdict[]> {
    if (calls.length === 0) return [];
    if (calls.length > MOST_TOGETHER) {
      throw new RangeError(`${calls.length} calls: at most ${MOST_TOGETHER} are asked together`);
    }
    const questions = await Promise.all(calls.map((call) => this.#question(call, options)));
    const requests = calls.map((call, index) => this.#body(call, questions[index]!, options));
    return this.#decided(questions, options, async () => {
      const told = (await this.#post({ requests }, options.key)) as { requests?: unknown } | null;
      const each = told?.requests;
      if (!Array.isArray(each) || each.length !== questions.length) {
        throw new MismatchError("the server did not tell of each of the calls");
      }
      return questions.map((question, index) => standingOf(each[index], question));
    });
  }

  /** Withdraw a question that this token asked; what has ended stays as it is. */
  async withdraw(permissionId: string): Promise<void> {
    const path = `/requests/${encodeURIComponent(permissionId)}`;
    await this.#http.json({ method: "DELETE", path });
  }

  /**
   * The events of the branch, from now on or after one that was seen (`"0"`: all that are kept),
   * across lost connections. After a ProblemError of status 410 some were missed. The server says
   * something every 15 seconds: after `silence` seconds without a word, 45 unless you say so, the
   * connection is taken for lost.
   */
  events(
    options: { lastEventId?: string; signal?: AbortSignal; silence?: number } = {},
  ): AsyncGenerator<BranchEvent, void> {
    const { lastEventId = "", signal, silence } = options;
    return follow(this.#http, lastEventId, signal, silence === undefined ? SILENCE : silence * SECOND);
  }

  async #question(call: Call, options: CheckOptions): Promise<Question> {
    options.signal?.throwIfAborted();
    const given = plainArguments(call.arguments ?? {});
    return {
      permissionId: crypto.randomUUID(), // a call that is repeated asks once
      tool: call.name,
      arguments: given,
      digest: await argumentsDigest(given),
      shared: options.key !== undefined,
    };
  }

  #body(call: Call, question: Question, options: CheckOptions): object {
    const { runId } = this.#options;
    const timeout = options.timeout ?? this.#options.timeout;
    return {
      type: "PERMISSION_REQUEST",
      permissionId: question.permissionId,
      functionName: question.tool,
      arguments: question.arguments,
      argumentsDigest: question.digest,
      run: { runId },
      ...(call.callId === undefined ? {} : { callId: call.callId }),
      ...(call.description === undefined ? {} : { description: call.description }),
      ...(options.requestedBy === undefined ? {} : { requestedBy: options.requestedBy }),
      ...(timeout === undefined ? {} : { timeout }),
    };
  }

  #post(body: object, key: string | undefined): Promise<unknown> {
    return this.#http.json({ method: "POST", path: "/requests", body, key });
  }

  /** The verdicts on what is asked; whatever ends this early withdraws it. */
  async #decided(
    questions: readonly Question[],
    options: CheckOptions,
    ask: () => Promise<Standing[]>,
  ): Promise<Verdict[]> {
    const { signal, withdraw = options.key === undefined } = options;
    const leaving = new AbortController();
    const stop = (): void => leaving.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", stop, { once: true });
    // Not ended by the signal: it is not known before its answer whether there is a question.
    const asking = ask();
    try {
      const asked = await orLeave(asking, leaving.signal);
      return await Promise.all(
        asked.map((one, index) => this.#verdict(questions[index]!, one, leaving.signal)),
      );
    } catch (error) {
      const withdrawn = withdraw ? this.#withdrawAll(questions, asking) : Promise.resolve();
      if (signal?.aborted) await atMost(WITHDRAWING, withdrawn, this.#http.unanswered);
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
      leaving.abort();
    }
  }

  async #withdrawAll(questions: readonly Question[], asking: Promise<Standing[]>): Promise<void> {
    let ids: string[];
    try {
      ids = (await asking).filter((one) => one.ending === null).map((one) => one.permissionId);
    } catch (error) {
      // What was refused is not there. Otherwise it may be, and only its answer was lost.
      if (error instanceof ProblemError && !passes(error)) return;
      ids = questions.map((question) => question.permissionId);
    }
    await Promise.allSettled(ids.map((id) => this.withdraw(id)));
  }

  async #verdict(question: Question, asked: Standing, signal: AbortSignal): Promise<Verdict> {
    const { permissionId } = asked;
    const path = `/requests/${encodeURIComponent(permissionId)}`;
    const giveUp = performance.now() + LONGEST;
    let { ending } = asked;
    for (let wait = true; ending === null; ) {
      const begun = performance.now();
      if (begun > giveUp) throw new MismatchError(`the question about ${question.tool} has no end`);
      ({ ending } = standingOf(await this.#look(path, wait, signal), {
        ...question,
        permissionId,
        shared: false,
      }));
      // Where the server stops, or has no room for more who wait, it answers at once.
      wait = performance.now() - begun > LOOK_AGAIN || !wait;
      if (ending === null && performance.now() - begun < LOOK_AGAIN) await sleep(LOOK_AGAIN, signal);
    }
    return verdictOf(question, permissionId, ending);
  }

  async #look(path: string, wait: boolean, signal: AbortSignal): Promise<unknown> {
    const look = { method: "GET", signal, within: LOOK + ON_THE_WAY } as const;
    if (wait) {
      try {
        return await this.#http.json({ ...look, path: `${path}?wait=${LOOK / SECOND}s` });
      } catch (error) {
        if (!(error instanceof ProblemError) || error.problem.code !== "TooManyStreams") throw error;
      }
    }
    return this.#http.json({ ...look, path });
  }
}

/** The promise, or the signal's reason when that comes first. */
function orLeave<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** When the signal aborts. */
function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

/** Wait until the work is done, but for so many milliseconds at most, or until the signal aborts. */
async function atMost(
  milliseconds: number,
  work: Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const late = sleep(milliseconds, AbortSignal.any([done.signal, signal])).catch(() => undefined);
  await Promise.race([work, late]);
  done.abort();
}
