/**
 * Probes of ports: a TCP probe, and a probe by the gRPC health service.
 *
 * Permissions: net (the application).
 *
 * @module
 */
import { isIPv6 } from "node:net";
import { ClientCall } from "../../grpc/client/client_call.ts";
import { ClientConnection } from "../../grpc/client/client_connection.ts";
import { Code, codeName } from "../../grpc/codes.ts";
import { MessageWriter } from "../../grpc/message_writer.ts";
import { RpcError } from "../../grpc/status.ts";
import { WireCursor } from "../../resource/protowire.ts";
import { discard } from "../../sockets/transport/discard.ts";
import { SocketTransport } from "../../sockets/transport/socket.ts";
import { orAborted } from "./or_aborted.ts";
import { type ProbeAddress, probeSocket } from "./probe_socket.ts";

/** @throws {Error} With the reason if there is no connection, or the signal's reason. */
export async function probePort(address: ProbeAddress, signal: AbortSignal): Promise<void> {
  discard(await probeSocket(address, undefined, signal));
}

/** `HealthCheckResponse.ServingStatus` by number. */
const STATUSES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/** Bytes of an answer: a status takes two. */
const MAX_ANSWER = 4096;

/**
 * Asks `grpc.health.v1.Health/Check`, in plain text as kubelet does.
 * @param service The service's name. Empty: the server as a whole.
 * @param userAgent Absent: the client's own.
 * @throws {Error} Unless the answer is SERVING, or with the signal's reason.
 */
export async function probeGrpc(
  address: ProbeAddress,
  service: string,
  userAgent: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const connection = new ClientConnection(new SocketTransport(await probeSocket(address, undefined, signal)));
  try {
    const status = readStatus(await check(connection, address, service, userAgent, signal));
    if (status !== 1) throw new Error(`the gRPC health status is ${STATUSES[status] ?? status}`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const reason = error.code === Code.UNIMPLEMENTED
      ? "the server has no service grpc.health.v1.Health"
      : `${codeName(error.code)}: ${error.message}`;
    throw new Error(reason, { cause: error });
  } finally {
    connection.close();
  }
}

async function check(
  connection: ClientConnection,
  { host, port }: ProbeAddress,
  service: string,
  userAgent: string | undefined,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  let response: Uint8Array | undefined;
  const call = new ClientCall(connection, {
    authority: `${isIPv6(host) ? `[${host}]` : host}:${port}`,
    path: "/grpc.health.v1.Health/Check",
    maxMessageSize: MAX_ANSWER,
    ...(userAgent === undefined ? {} : { metadata: { "user-agent": userAgent } }),
  }, {
    message: (bytes) => response = new Uint8Array(bytes),
    end: (status) => status !== undefined ? reject(status) : resolve(response ?? new Uint8Array(0)),
  });
  call.send(new MessageWriter().string(1, service).finish());
  call.halfClose();
  try {
    return await orAborted({ promise, reject }, signal);
  } finally {
    call.cancel();
  }
}

/** `HealthCheckResponse`: status = 1. */
function readStatus(bytes: Uint8Array): number {
  let status = 0;
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 1 && cursor.wireType === 0) status = cursor.varint();
    else cursor.skip();
  }
  return status;
}
