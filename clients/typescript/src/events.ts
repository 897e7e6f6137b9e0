/** The events of a branch, as the server sends them, across lost connections. */

import { ProblemError } from "./errors.js";
import { passes, sleep, type Http } from "./http.js";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
/** The server says something every 15 seconds, if only that it lives. */
export const SILENCE = 45_000;

export interface BranchEvent {
  readonly type: string;
  /** Resumes after this event. */
  readonly lastEventId: string;
  /** The event itself, as docs/http-api.md has it. */
  readonly data: Record<string, unknown>;
}

interface Block {
  id: string | undefined;
  event: string;
  data: string | undefined;
}

export async function* follow(
  http: Http,
  lastEventId: string,
  signal: AbortSignal | undefined,
  silence: number,
): AsyncGenerator<BranchEvent, void> {
  let pause = FIRST_PAUSE;
  for (;;) {
    signal?.throwIfAborted();
    const leaving = new AbortController();
    const stop = (): void => leaving.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    let wait = pause;
    try {
      const resume: Record<string, string> = lastEventId ? { "Last-Event-ID": lastEventId } : {};
      const heard = <T>(waiting: Promise<T>): Promise<T> => within(waiting, silence, leaving);
      const response = await heard(http.open("/events", resume, leaving.signal));
      for await (const block of blocks(response.body, heard)) {
        wait = pause = FIRST_PAUSE;
        if (block.event === "stream-error") break; // cut off: read on from the last event
        if (block.id !== undefined) lastEventId = block.id;
        if (block.data !== undefined) {
          const data = JSON.parse(block.data) as Record<string, unknown>;
          yield { type: block.event, lastEventId, data };
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!passes(error)) throw error;
      if (error instanceof ProblemError) wait = Math.max(wait, error.wait);
    } finally {
      signal?.removeEventListener("abort", stop);
      leaving.abort(); // whoever stops listening leaves no connection behind
    }
    await sleep(wait, signal);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
}

/** The blocks of a stream of server-sent events (WHATWG HTML, section 9.2.6). */
async function* blocks(
  body: ReadableStream<Uint8Array> | null,
  heard: <T>(waiting: Promise<T>) => Promise<T>,
): AsyncGenerator<Block, void> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let buffer = "";
  const reader = body.getReader();
  try {
    for (;;) {
      const part = await heard(reader.read());
      if (part.done) return;
      buffer += decoder.decode(part.value, { stream: true });
      for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
        yield parsed(buffer.slice(0, end));
        buffer = buffer.slice(end + 2);
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** What comes, or a TimeoutError: a connection may die without a word, and nothing tells of it. */
async function within<T>(
  waiting: Promise<T>,
  milliseconds: number,
  leaving: AbortController,
): Promise<T> {
  const silent = (): void => leaving.abort(new DOMException("nothing came", "TimeoutError"));
  const timer = setTimeout(silent, milliseconds);
  try {
    return await waiting;
  } finally {
    clearTimeout(timer);
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
