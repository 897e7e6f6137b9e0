/** Calls of the hosted API, tried again while what is wrong may pass. */

import { ProblemError, UnreachableError, type Problem } from "./errors.js";

const SECOND = 1_000;
const FIRST_PAUSE = 0.25 * SECOND;
const LONGEST_PAUSE = 5 * SECOND;
const ONE_TRY = 30 * SECOND;

export interface Sent {
  method: "GET" | "POST" | "DELETE";
  path: string;
  body?: object;
  key?: string | undefined;
  /** Ends it, between and during tries. */
  signal?: AbortSignal | undefined;
  /** How long one try may take, in milliseconds. */
  within?: number;
}

export class Http {
  readonly #address: string;
  readonly #token: string;
  readonly #fetch: typeof fetch;
  readonly #patience: number;
  #unanswered = new AbortController();

  /** `patience`: how many milliseconds of failures in a row are tried again. */
  constructor(address: string, token: string, fetching: typeof fetch, patience: number) {
    this.#address = address;
    this.#token = token;
    this.#fetch = fetching;
    this.#patience = patience;
  }

  /** Aborts when a try gets no answer; it has aborted where the last one got none. */
  get unanswered(): AbortSignal {
    return this.#unanswered.signal;
  }

  /** What the server answers to a call that may be repeated. */
  async json(sent: Sent): Promise<unknown> {
    const begun = performance.now();
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      sent.signal?.throwIfAborted();
      let wait = pause;
      try {
        const answer = await this.#once(sent);
        if (this.unanswered.aborted) this.#unanswered = new AbortController();
        return answer;
      } catch (error) {
        sent.signal?.throwIfAborted();
        if (!passes(error)) throw error;
        if (!(error instanceof ProblemError)) this.#unanswered.abort();
        if (error instanceof ProblemError) wait = Math.max(wait, error.wait);
        if (performance.now() + wait - begun > this.#patience) throw given(error);
      }
      await sleep(wait, sent.signal);
    }
  }

  /** The answer to one call, whose body is still to be read; a refusal is a ProblemError. */
  async open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const response = await this.#fetch(this.#address + path, this.#init("GET", headers, signal));
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  async #once(sent: Sent): Promise<unknown> {
    const headers: Record<string, string> = {};
    if (sent.body !== undefined) headers["Content-Type"] = "application/json";
    if (sent.key !== undefined) headers["Idempotency-Key"] = quoted(sent.key);
    const ends = [AbortSignal.timeout(sent.within ?? ONE_TRY)];
    if (sent.signal !== undefined) ends.push(sent.signal);
    const response = await this.#fetch(this.#address + sent.path, {
      ...this.#init(sent.method, headers, AbortSignal.any(ends)),
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
    });
    if (!response.ok) throw await problemOf(response);
    return (await response.json()) as unknown;
  }

  #init(method: string, headers: Record<string, string>, signal: AbortSignal): RequestInit {
    return {
      method,
      headers: { ...headers, Authorization: `Bearer ${this.#token}` },
      signal,
      redirect: "error", // the token is for this address alone
      credentials: "omit",
      cache: "no-store",
    };
  }
}

/** Whether trying again may help: of fetch, a broken connection is a TypeError. */
export function passes(error: unknown): boolean {
  if (error instanceof ProblemError) return error.passes;
  if (error instanceof SyntaxError) return true; // half an answer, or a page of a proxy
  const name = error instanceof Error || error instanceof DOMException ? error.name : "";
  return error instanceof TypeError || name === "TimeoutError" || name === "AbortError";
}

/** Wait so many milliseconds; rejects with the signal's reason when that comes first. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** What was refused; a proxy between may answer with something else than a problem document. */
async function problemOf(response: Response): Promise<ProblemError> {
  const { status } = response;
  const after = Number(response.headers.get("Retry-After") ?? 0);
  const wait = Number.isFinite(after) ? SECOND * Math.max(0, after) : SECOND;
  if (response.headers.get("Content-Type") === "application/problem+json") {
    return new ProblemError((await response.json()) as Problem, wait);
  }
  const detail = (await response.text()).slice(0, 200);
  return new ProblemError({ type: "", title: "", status, code: "NotFromSayso", detail }, wait);
}

function given(error: unknown): Error {
  if (error instanceof ProblemError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new UnreachableError(`the server could not be reached: ${why}${because(error)}`, {
    cause: error,
  });
}

/** Node says "fetch failed", and the reason in what caused it. */
function because(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as { message?: string; code?: string }) : null;
  const why = cause?.message || cause?.code;
  return why ? ` (${why})` : "";
}

function quoted(key: string): string {
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}
