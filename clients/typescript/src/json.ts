/** Arguments as plain JSON, and the digest that says which arguments somebody decided on. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Arguments = { [name: string]: Json };

/** What cannot be shown to a person as it is, so nobody is asked about it. */
export class ArgumentsError extends TypeError {
  override readonly name = "ArgumentsError";
}

/**
 * A copy of a call's arguments that nobody else holds: what is shown, sent and hashed.
 *
 * Members that are undefined are left out, a Date is its ISO text; whatever else is not JSON is
 * refused, because a person would see something else than what runs.
 */
export function plainArguments(given: unknown): Arguments {
  const plain = copied(given, "the arguments");
  if (typeof plain === "object" && plain !== null && !Array.isArray(plain)) return plain;
  throw new ArgumentsError("the arguments of a call are an object");
}

/**
 * The digest of arguments, as the server computes it: `jcs-sha256:` and, in hex, the SHA-256 of
 * their JSON in the canonical form of RFC 8785.
 */
export async function argumentsDigest(given: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(plainArguments(given)));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0"));
  return `jcs-sha256:${hex.join("")}`;
}

/** A value in the canonical JSON of RFC 8785, whose numbers and strings are ECMAScript's own. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort(); // by UTF-16 code units, as RFC 8785 wants it
  const members = names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name]!)}`);
  return `{${members.join(",")}}`;
}

function copied(value: unknown, where: string): Json {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return wellFormed(value, where);
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw new ArgumentsError(`${where}: ${value} has no JSON form`);
  }
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => copied(item, `${where}[${index}]`));
  }
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "object" && isPlain(value)) {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    // fromEntries makes members of its own, "__proto__" among them.
    return Object.fromEntries(
      members.map(([name, item]) => [wellFormed(name, where), copied(item, `${where}.${name}`)]),
    );
  }
  const kind = typeof value === "object" ? value.constructor?.name : typeof value;
  throw new ArgumentsError(`${where}: a value of type ${kind ?? "object"} has no JSON form`);
}

function wellFormed(text: string, where: string): string {
  if (text.isWellFormed()) return text;
  throw new ArgumentsError(`${where}: a string has half of a surrogate pair`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The objects of another realm, such as a frame or a vm, have a prototype of their own.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
