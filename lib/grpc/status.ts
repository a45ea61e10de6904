/**
 * The error that carries a gRPC status to the client, and the form of status and deadline in headers.
 *
 * @module
 */
import { Code } from "./codes.ts";

/** An error that ends a call with a status. The message goes to the client. */
export class RpcError extends Error {
  override name = "RpcError";
  constructor(readonly code: Code, message: string) {
    super(message);
  }
}

/**
 * Longest `grpc-message`, in characters of the header. Clients limit the headers of a response (the smallest limit is 8
 * kB, of gRPC for Java), and beyond the limit end the call without its status.
 */
export const MAX_STATUS_MESSAGE = 4096;

const CUT = "...";

/**
 * Percent-encodes a `grpc-message` trailer: bytes outside printable ASCII, and `%`, become `%XX`. A long message is cut
 * between characters, and ends with `...`.
 * Rule: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export function encodeStatusMessage(message: string): string {
  let out = "";
  // The kept length if a later character causes a cut.
  let cut = 0;
  for (const character of message) {
    const next = /^[ -$&-~]$/.test(character) ? character : percentEncoded(character);
    if (out.length + next.length > MAX_STATUS_MESSAGE) return out.slice(0, cut) + CUT;
    out += next;
    if (out.length <= MAX_STATUS_MESSAGE - CUT.length) cut = out.length;
  }
  return out;
}

function percentEncoded(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => "%" + byte.toString(16).toUpperCase().padStart(2, "0")).join("");
}

/**
 * Milliseconds of a `grpc-timeout` header (at most 8 digits and a unit of H, M, S, m, u, n); undefined: no header.
 *
 * @throws RpcError INVALID_ARGUMENT for another form
 */
export function parseTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const match = /^(\d{1,8})([HMSmun])$/.exec(header);
  if (match === null) {
    throw new RpcError(Code.INVALID_ARGUMENT, `grpc-timeout ${JSON.stringify(header)}: expected digits and a unit`);
  }
  const unit = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }[match[2] as "H"];
  return Number(match[1]) * unit;
}
