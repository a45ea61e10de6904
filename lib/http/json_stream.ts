/**
 * Long JSON in slices. A large value is made, written and sent part by part, and the event loop turns between the
 * parts.
 *
 * @module
 */
import { oneTurn, SLICE_MS } from "../kernel/time/paced.ts";
import type { HttpResponse, RequestHead } from "./message.ts";

/** Characters after which a part is sent. */
const PART = 64 * 1024;

/** A list with elements made during writing, one by one. */
export class LazyList {
  readonly length: number;
  readonly #elements: () => Iterable<unknown>;

  /** @param make Called while the list is written. The server's state at the call may be newer than the list. */
  static of<T>(items: readonly T[], make: (item: T) => unknown): LazyList {
    return new LazyList(items.length, () => Iterator.from(items).map(make));
  }

  private constructor(length: number, elements: () => Iterable<unknown>) {
    this.length = length;
    this.#elements = elements;
  }

  /** The elements, each made now. */
  [Symbol.iterator](): Iterator<unknown> {
    return this.#elements()[Symbol.iterator]();
  }
}

/** An object with lazy fields, or with fields made one by one. Undefined fields are left out. */
export class LazyObject {
  constructor(readonly fields: Iterable<readonly [string, unknown]>) {}
}

/**
 * A response of JSON of any length. Short JSON is sent as one body with its length.
 *
 * @param value {@linkcode LazyList} and {@linkcode LazyObject}, nested as needed. A value inside is written at once.
 */
export function longJsonResponse(value: unknown, { query }: Pick<RequestHead, "query">): HttpResponse {
  const pieces = jsonPieces(value, query.has("pretty") ? "  " : "", "\n");
  const headers = { "content-type": "application/json" };
  const first = take(pieces);
  if (first.done) return { status: 200, headers, body: `${first.text}\n` };
  return { status: 200, headers, body: first.text, parts: others(pieces) };
}

async function* others(pieces: Iterator<string>): AsyncIterable<string> {
  for (;;) {
    await oneTurn();
    const { text, done } = take(pieces);
    yield done ? `${text}\n` : text;
    if (done) return;
  }
}

/** As many pieces as fit into one part and one slice of time. */
function take(pieces: Iterator<string>): { readonly text: string; readonly done: boolean } {
  const end = performance.now() + SLICE_MS;
  let text = "";
  while (text.length < PART && performance.now() < end) {
    const { value, done } = pieces.next();
    if (done) return { text, done };
    text += value;
  }
  return { text, done: false };
}

/**
 * The JSON of a value in pieces. The joined pieces equal the text of `JSON.stringify`.
 *
 * @param indent The indent of one level; empty: no line breaks.
 * @param line Start of a line at the present level: a line break and the indent.
 */
export function* jsonPieces(value: unknown, indent: string, line: string): Generator<string, void> {
  const inner = line + indent;
  const begin = indent === "" ? "" : inner;
  const end = indent === "" ? "" : line;
  if (value instanceof LazyList) {
    let comma = "";
    yield "[";
    for (const element of value) {
      yield comma + begin;
      yield* jsonPieces(element ?? null, indent, inner);
      comma = ",";
    }
    yield comma === "" ? "]" : `${end}]`;
  } else if (value instanceof LazyObject) {
    let comma = "";
    yield "{";
    for (const [name, field] of value.fields) {
      if (field === undefined) continue;
      yield `${comma}${begin}${JSON.stringify(name)}:${indent === "" ? "" : " "}`;
      yield* jsonPieces(field, indent, inner);
      comma = ",";
    }
    yield comma === "" ? "}" : `${end}}`;
  } else {
    const text = JSON.stringify(value, null, indent);
    yield indent === "" ? text : text.replaceAll("\n", line);
  }
}
