/**
 * Packets of MySQL's protocol: a greeting, a login and a query with its answer.
 * https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { concatBytes as concat } from "../../../lib/resource/block.ts";
import { type MessageConnection, serveMessages } from "./messages.ts";

/** CLIENT_LONG_PASSWORD, CLIENT_PROTOCOL_41, CLIENT_SECURE_CONNECTION. */
const CAPABILITIES = 0x1 | 0x200 | 0x8000;
/** utf8mb4_general_ci. */
const CHARACTER_SET = 45;
/** The command COM_QUERY. */
const QUERY = 3;

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const zeros = (count: number): Uint8Array => new Uint8Array(count);
const int16 = (value: number): Uint8Array => Uint8Array.of(value & 0xff, value >> 8 & 0xff);
/** A length-prefixed text, below 251 bytes. */
const counted = (value: string): Uint8Array => concat([Uint8Array.of(value.length), text(value)]);

/** The first three bytes of a packet are the length of the content. The fourth byte is the packet's number. */
export const mysqlLength = (bytes: Uint8Array): number | undefined =>
  bytes.length < 4 ? undefined : 4 + bytes[0]! + (bytes[1]! << 8) + (bytes[2]! << 16);

function packet(number: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const body = concat(parts);
  return concat([Uint8Array.of(body.length & 0xff, body.length >> 8 & 0xff, body.length >> 16, number), body]);
}

/** The server's greeting: protocol 10, a version, connection 7, a challenge of 20 bytes. */
export const GREETING: Uint8Array = packet(
  0,
  ...[Uint8Array.of(10), text("8.0.36\0"), Uint8Array.of(7, 0, 0, 0), text("abcdefgh\0"), int16(CAPABILITIES)],
  ...[Uint8Array.of(CHARACTER_SET), int16(2), int16(0), Uint8Array.of(21), zeros(10), text("ijklmnopqrst\0")],
);

/** A user without a password. */
export const LOGIN: Uint8Array = packet(
  1,
  ...[int16(CAPABILITIES), int16(0), Uint8Array.of(0, 0, 0, 1), Uint8Array.of(CHARACTER_SET), zeros(23)],
  ...[text("cart\0"), Uint8Array.of(0)],
);

/** Login accepted. */
export const ACCEPTED: Uint8Array = packet(2, Uint8Array.of(0, 0, 0, 2, 0, 0, 0));

/** A query. */
export const SELECT: Uint8Array = packet(0, Uint8Array.of(QUERY), text("SELECT one FROM shop.items"));

const END = Uint8Array.of(0xfe, 0, 0, 2, 0);
const COLUMN = concat([
  ...["def", "shop", "items", "items", "one", "one"].map(counted),
  ...[Uint8Array.of(12), int16(CHARACTER_SET), Uint8Array.of(4, 0, 0, 0), Uint8Array.of(0xfd), zeros(5)],
]);

/** The answer to the query: one column, one row. */
export const ROWS: readonly Uint8Array[] = [
  ...[packet(1, Uint8Array.of(1)), packet(2, COLUMN), packet(3, END), packet(4, counted("1")), packet(5, END)],
];

/** A server that greets, accepts the login, answers a query, and keeps the received packets. */
export function mysqlServer(received: Uint8Array[]) {
  return serveMessages(mysqlLength, async (client: MessageConnection) => {
    await client.send(GREETING);
    for (const answers of [[ACCEPTED], ROWS]) {
      const got = await client.next();
      if (got === undefined) return;
      received.push(got);
      for (const answer of answers) await client.send(answer);
    }
    await client.next();
  });
}
