/**
 * The messages of Envoy's external processor (`envoy.service.ext_proc.v3`) that an endpoint picker reads and writes.
 *
 * @module
 */
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { utf8Bytes, utf8Text, WireCursor } from "../../../lib/resource/protowire.ts";

/** A part of a request or of its answer, as the proxy sends it. */
export type Piece =
  | { readonly kind: "headers"; readonly headers: Readonly<Record<string, string>>; readonly last: boolean }
  | { readonly kind: "body"; readonly body: Uint8Array; readonly last: boolean }
  | { readonly kind: "trailers" };

/** A message of the proxy. */
export interface Received {
  readonly side: "request" | "response";
  readonly part: Piece;
  /** The endpoint that has answered, from the metadata; empty: not known. */
  readonly served: string;
}

/** The header and metadata key with picked endpoints. */
export const PICKED = "x-gateway-destination-endpoint";

const NAMESPACE = "envoy.lb";
const SERVED = `${PICKED}-served`;

/** The parts by the number of their field in `ProcessingRequest`. */
const PARTS: Readonly<Record<number, readonly [Received["side"], Piece["kind"]]>> = {
  2: ["request", "headers"],
  3: ["response", "headers"],
  4: ["request", "body"],
  5: ["response", "body"],
  6: ["request", "trailers"],
  7: ["response", "trailers"],
};

/** Reads a `ProcessingRequest`. Undefined: no part of a request. */
export function received(bytes: Uint8Array): Received | undefined {
  let found: readonly [Received["side"], Piece] | undefined;
  let served = "";
  for (const [field, value] of fieldsOf(bytes)) {
    const known = PARTS[field];
    if (known !== undefined) found = [known[0], partOf(known[1], value)];
    if (field === 8) served = servedIn(value);
  }
  return found && { side: found[0], part: found[1], served };
}

function partOf(kind: Piece["kind"], bytes: Uint8Array): Piece {
  if (kind === "trailers") return { kind };
  let [content, last] = [NOTHING, false];
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) content = value;
    if (field === (kind === "headers" ? 3 : 2)) last = value[0] === 1;
  }
  return kind === "body" ? { kind, body: content, last } : { kind, headers: headersIn(content), last };
}

const NOTHING: Uint8Array = new Uint8Array();

/** A `HeaderMap`. */
function headersIn(bytes: Uint8Array): Record<string, string> {
  return Object.fromEntries(
    fieldsOf(bytes).map(([, header]) => {
      const fields = new Map(fieldsOf(header));
      return [utf8Text(fields.get(1) ?? NOTHING).toLowerCase(), utf8Text(fields.get(3) ?? fields.get(2) ?? NOTHING)];
    }),
  );
}

/** The endpoint in a `Metadata`. */
function servedIn(bytes: Uint8Array): string {
  const namespaces = entriesOf(bytes, 1);
  const value = entriesOf(namespaces.get(NAMESPACE) ?? NOTHING, 1).get(SERVED) ?? NOTHING;
  return utf8Text(new Map(fieldsOf(value)).get(3) ?? NOTHING);
}

/** The entries of a map with texts as keys. */
function entriesOf(bytes: Uint8Array, of: number): Map<string, Uint8Array> {
  const entries = fieldsOf(bytes).filter(([field]) => field === of).map(([, entry]) => new Map(fieldsOf(entry)));
  return new Map(entries.map((entry) => [utf8Text(entry.get(1) ?? NOTHING), entry.get(2) ?? NOTHING]));
}

/** The fields of a message. The value of a number is one byte, which is enough for flags. */
function fieldsOf(bytes: Uint8Array): [number, Uint8Array][] {
  const fields: [number, Uint8Array][] = [];
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    const { field, wireType } = cursor;
    if (wireType === 2) fields.push([field, cursor.bytes()]);
    else if (wireType === 0) fields.push([field, Uint8Array.of(cursor.varint() & 255)]);
    else cursor.skip();
  }
  return fields;
}

/** An answer to headers, which sets headers. @param picked Endpoints for the metadata; empty: none */
export function headersAnswer(
  side: Received["side"],
  headers: Readonly<Record<string, string>>,
  picked = "",
): Uint8Array {
  const mutation = new MessageWriter();
  for (const [name, value] of Object.entries(headers)) {
    const header = new MessageWriter().string(1, name).bytes(3, utf8Bytes(value)).finish();
    // 2: the header is replaced.
    mutation.bytes(1, new MessageWriter().bytes(1, header).varint(3, 2).finish());
  }
  const common = new MessageWriter().bytes(2, mutation.finish()).finish();
  const answer = new MessageWriter().bytes(side === "request" ? 1 : 2, new MessageWriter().bytes(1, common).finish());
  if (picked !== "") answer.bytes(8, struct(NAMESPACE, 5, struct(PICKED, 3, utf8Bytes(picked))));
  return answer.finish();
}

/** A `Struct` with one field, whose value is of the given field of `Value`. */
function struct(key: string, field: number, content: Uint8Array): Uint8Array {
  const value = new MessageWriter().bytes(field, content).finish();
  return new MessageWriter().bytes(1, new MessageWriter().string(1, key).bytes(2, value).finish()).finish();
}

/** An answer that passes a part of a body on. */
export function bodyAnswer(side: Received["side"], body: Uint8Array, last: boolean): Uint8Array {
  const streamed = new MessageWriter().bytes(1, body).varint(2, last ? 1 : 0).finish();
  const common = new MessageWriter().bytes(3, new MessageWriter().bytes(3, streamed).finish()).finish();
  const field = side === "request" ? 3 : 4;
  return new MessageWriter().bytes(field, new MessageWriter().bytes(1, common).finish()).finish();
}

/** An answer that passes trailers on. */
export function trailersAnswer(side: Received["side"]): Uint8Array {
  return new MessageWriter().bytes(side === "request" ? 5 : 6, NOTHING).finish();
}

/** An answer in place of the backend's. */
export function refusalAnswer(status: number): Uint8Array {
  const code = new MessageWriter().varint(1, status).finish();
  return new MessageWriter().bytes(7, new MessageWriter().bytes(1, code).finish()).finish();
}
