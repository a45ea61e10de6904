/**
 * gRPC status codes, and the error that carries one to the client.
 *
 * @module
 */

/** Codes of https://github.com/grpc/grpc/blob/master/doc/statuscodes.md */
export const Code = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** One of the numbers of {@linkcode Code}. */
export type Code = (typeof Code)[keyof typeof Code];

/** Names of all codes, as Go's gRPC writes them and metrics of this field have them. */
const NAMES = [
  ...["OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists"],
  ...["PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented"],
  ...["Internal", "Unavailable", "DataLoss", "Unauthenticated"],
];

/** The name of a code; `Code(99)` of one that is none. */
export function codeName(code: number): string {
  return NAMES[code] ?? `Code(${code})`;
}

/** An error that ends a call with this status; its message goes to the client. */
export class RpcError extends Error {
  override name = "RpcError";
  constructor(readonly code: Code, message: string) {
    super(message);
  }
}

/**
 * Percent-encodes a `grpc-message` trailer: bytes outside printable ASCII, and `%`, become `%XX`.
 * Rule: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export function encodeStatusMessage(message: string): string {
  let out = "";
  for (const byte of new TextEncoder().encode(message)) {
    if (byte >= 0x20 && byte <= 0x7e && byte !== 0x25) out += String.fromCharCode(byte);
    else out += "%" + byte.toString(16).toUpperCase().padStart(2, "0");
  }
  return out;
}

/**
 * Milliseconds of a `grpc-timeout` header (at most 8 digits and a unit of H, M, S, m, u, n); undefined when the header
 * is absent.
 *
 * @throws RpcError INVALID_ARGUMENT when it is not of that form
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
