/**
 * Status codes of gRPC: https://github.com/grpc/grpc/blob/master/doc/statuscodes.md
 *
 * @module
 */

/** The codes by name. */
export const Code = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** A number of {@linkcode Code}. */
export type Code = (typeof Code)[keyof typeof Code];

/** Names of all codes, as in Go's gRPC and its metrics. */
const NAMES = [
  ...["OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists"],
  ...["PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented"],
  ...["Internal", "Unavailable", "DataLoss", "Unauthenticated"],
];

/** The name of a code; `Code(99)` for an unknown number. */
export function codeName(code: number): string {
  return NAMES[code] ?? `Code(${code})`;
}
