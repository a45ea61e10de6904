/**
 * Messages between the node agent and a node tunnel, as in `zds.proto` (package `istio.workload.zds`):
 *
 *     tunnel                     node agent
 *     ZdsHello            ──▶
 *                         ◀──    WorkloadRequest (add, keep, del, snapshot_sent)
 *     WorkloadResponse    ──▶    one for each request, in order
 *
 * Pure.
 *
 * @module
 */
import protobuf from "protobufjs/minimal.js";

/** Longest message in either direction, bytes. Tunnels read no more. */
export const MAX_MESSAGE = 1024;

/** A pod, as a tunnel needs to know it. */
export interface TunnelPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A message that cannot be read. */
export class MessageError extends Error {
  override readonly name = "MessageError";
}

/** Numbers of the fields. */
const REQUEST = { add: 1, del: 2, snapshotSent: 3, keep: 5 } as const;
const ADD = { uid: 1, workloadInfo: 2 } as const;
const INFO = { name: 1, namespace: 2, serviceAccount: 3 } as const;
/** The uid of `DelWorkload` has another number than the uid of the others. */
const UID = { keep: 1, del: 2 } as const;
const RESPONSE = { ack: 1 } as const;
const ACK = { error: 1 } as const;
const HELLO = { version: 1 } as const;

/** The only version, `V1`. */
const V1 = 1;

/** Wire types: a number, and a length with bytes. */
const VARINT = 0;
const BYTES = 2;

function tag(field: number): number {
  return field << 3 | BYTES;
}

/** `WorkloadRequest.add`. The network namespace's descriptor travels beside the message. */
export function addMessage(pod: TunnelPod): Uint8Array {
  const writer = protobuf.Writer.create().uint32(tag(REQUEST.add)).fork();
  writer.uint32(tag(ADD.uid)).string(pod.uid).uint32(tag(ADD.workloadInfo)).fork();
  writer.uint32(tag(INFO.name)).string(pod.name);
  writer.uint32(tag(INFO.namespace)).string(pod.namespace);
  writer.uint32(tag(INFO.serviceAccount)).string(pod.serviceAccount);
  return finished(writer.ldelim().ldelim());
}

/** `WorkloadRequest.keep`: the tunnel keeps what it knows about the pod. */
export function keepMessage(uid: string): Uint8Array {
  return ofUid(REQUEST.keep, UID.keep, uid);
}

/** `WorkloadRequest.del`. */
export function delMessage(uid: string): Uint8Array {
  return ofUid(REQUEST.del, UID.del, uid);
}

/** `WorkloadRequest.snapshot_sent`: the tunnel drops pods that were not named. */
export function snapshotSentMessage(): Uint8Array {
  return finished(protobuf.Writer.create().uint32(tag(REQUEST.snapshotSent)).fork().ldelim());
}

function ofUid(request: number, field: number, uid: string): Uint8Array {
  return finished(protobuf.Writer.create().uint32(tag(request)).fork().uint32(tag(field)).string(uid).ldelim());
}

function finished(writer: protobuf.Writer): Uint8Array {
  const bytes = writer.finish();
  if (bytes.length > MAX_MESSAGE) throw new MessageError(`got ${bytes.length} bytes, expected at most ${MAX_MESSAGE}`);
  return bytes;
}

/**
 * Reads `ZdsHello`.
 * @throws {MessageError} For other bytes, and for a version other than `V1`.
 */
export function readHello(bytes: Uint8Array): void {
  let version = 0;
  eachField(bytes, "ZdsHello", (field, wire, reader) => {
    if (field !== HELLO.version || wire !== VARINT) return false;
    version = reader.uint32();
    return true;
  });
  if (version !== V1) throw new MessageError(`ZdsHello.version: got ${version}, expected ${V1}`);
}

/**
 * Reads `WorkloadResponse`.
 * @returns The error of the acknowledgement; empty for success.
 * @throws {MessageError} For other bytes.
 */
export function readResponse(bytes: Uint8Array): string {
  let ack: Uint8Array | undefined;
  eachField(bytes, "WorkloadResponse", (field, wire, reader) => {
    if (field !== RESPONSE.ack || wire !== BYTES) return false;
    ack = reader.bytes();
    return true;
  });
  if (ack === undefined) throw new MessageError("WorkloadResponse.ack: got none, expected one");
  let error = "";
  eachField(ack, "Ack", (field, wire, reader) => {
    if (field !== ACK.error || wire !== BYTES) return false;
    error = reader.string();
    return true;
  });
  return error;
}

/** Visits the fields of a message. A field that the visitor does not read is skipped. */
function eachField(
  bytes: Uint8Array,
  what: string,
  read: (field: number, wire: number, reader: protobuf.Reader) => boolean,
): void {
  if (bytes.length > MAX_MESSAGE) throw new MessageError(`${what}: got more than ${MAX_MESSAGE} bytes`);
  try {
    const reader = protobuf.Reader.create(bytes);
    while (reader.pos < reader.len) {
      const key = reader.uint32();
      if (!read(key >>> 3, key & 7, reader)) reader.skipType(key & 7);
    }
  } catch (error) {
    throw new MessageError(`${what}: ${(error as Error).message}`);
  }
}
