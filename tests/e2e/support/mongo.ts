/**
 * Messages of MongoDB's wire protocol: the first messages between a current driver and its server.
 * https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ and https://bsonspec.org/spec.html
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { concatBytes as concat } from "../../../lib/resource/block.ts";
import { type MessageConnection, serveMessages } from "./messages.ts";

/** Codes of operations in the header of a message. */
const OP_REPLY = 1, OP_QUERY = 2004, OP_MSG = 2013;

/** Types of BSON elements. */
const STRING = 2, BOOLEAN = 8, INT32 = 16;

type Document = Readonly<Record<string, number | string | boolean>>;

/** The first four bytes of a message are its length. */
export const mongoLength = (bytes: Uint8Array): number | undefined =>
  bytes.length < 4 ? undefined : new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);

function int32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, value, true);
  return bytes;
}

const cstring = (text: string): Uint8Array => new TextEncoder().encode(text + "\0");

function element(name: string, value: Document[string]): Uint8Array {
  const head = (type: number) => concat([Uint8Array.of(type), cstring(name)]);
  if (typeof value === "number") return concat([head(INT32), int32(value)]);
  if (typeof value === "boolean") return concat([head(BOOLEAN), Uint8Array.of(value ? 1 : 0)]);
  return concat([head(STRING), int32(cstring(value).length), cstring(value)]);
}

function bson(document: Document): Uint8Array {
  const elements = concat(Object.entries(document).map(([name, value]) => element(name, value)));
  return concat([int32(elements.length + 5), elements, Uint8Array.of(0)]);
}

function message(id: number, answers: number, operation: number, body: readonly Uint8Array[]): Uint8Array {
  const rest = concat([int32(id), int32(answers), int32(operation), ...body]);
  return concat([int32(rest.length + 4), rest]);
}

/** OP_QUERY: the handshake of current drivers (on `admin.$cmd`), and queries of old drivers. Requests one document. */
export function query(id: number, collection: string, document: Document): Uint8Array {
  return message(id, 0, OP_QUERY, [int32(0), cstring(collection), int32(0), int32(-1), bson(document)]);
}

/** OP_REPLY with a document: the answer to an OP_QUERY. */
export function reply(id: number, answers: number, document: Document): Uint8Array {
  const cursor = [int32(0), int32(0)];
  return message(id, answers, OP_REPLY, [int32(0), ...cursor, int32(0), int32(1), bson(document)]);
}

/** OP_MSG with a section: the current form of commands and answers. */
export function opMsg(id: number, answers: number, document: Document): Uint8Array {
  return message(id, answers, OP_MSG, [int32(0), Uint8Array.of(0), bson(document)]);
}

/** A server that sends the given answers, one per message, and keeps the received messages. */
export function mongoServer(answers: readonly Uint8Array[], received: Uint8Array[]) {
  return serveMessages(mongoLength, async (client: MessageConnection) => {
    for (const answer of answers) {
      const got = await client.next();
      if (got === undefined) return;
      received.push(got);
      await client.send(answer);
    }
    await client.next();
  });
}
