/**
 * Questions about the control plane's state, sent to the discovery server on the workload's behalf: discovery requests
 * of type `istio.io/debug`, each with one answer.
 *
 * Each has a stream of its own: a server refuses by ending the stream, which must not be the proxy's.
 *
 * Permissions: the permissions of the upstream.
 *
 * @module
 */
import { Code } from "../../grpc/codes.ts";
import { MessageWriter } from "../../grpc/message_writer.ts";
import { RpcError } from "../../grpc/status.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { requestNames, responseType } from "../relay/messages.ts";
import type { OpenUpstream } from "../relay/upstream.ts";

/** Type of the questions; also the prefix of types of older servers. */
export const DEBUG_TYPE = "istio.io/debug";

export interface ServerQuestion {
  /** {@linkcode DEBUG_TYPE}, or a type with this prefix. */
  readonly typeUrl: string;
  /** The requested pages, such as `syncz` or `config_dump?proxyID=a`. */
  readonly names: readonly string[];
}

/** How questions are asked. */
export interface AskOptions {
  readonly open: OpenUpstream;
  /** The proxy's id, which tells the server who asks. */
  readonly node: string;
  /** Time for an answer, the connection included, ms. */
  readonly timeout: number;
  readonly clock: Pick<Clock, "after">;
}

/** Questions at a time; each is a connection. */
const AT_ONCE = 4;

/**
 * Asks; resolves with the server's answer, a `DiscoveryResponse`.
 *
 * @param signal the asker has gone
 * @throws {RpcError} RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, CANCELLED or UNAVAILABLE with the server's reason
 */
export type AskServer = (question: ServerQuestion, signal: AbortSignal) => Promise<Uint8Array>;

/** How a server is asked. */
export function serverAsker({ open, node, timeout, clock }: AskOptions): AskServer {
  let asked = 0;
  return async ({ typeUrl, names }, signal) => {
    if (asked >= AT_ONCE) throw new RpcError(Code.RESOURCE_EXHAUSTED, `${AT_ONCE} questions are being asked already`);
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const left = () => reject(new RpcError(Code.CANCELLED, "the asker has gone"));
    if (signal.aborted) left();
    signal.addEventListener("abort", left);
    const cancel = clock.after(timeout, () => {
      reject(new RpcError(Code.DEADLINE_EXCEEDED, `the server gave no answer within ${timeout / 1000} s`));
    });
    asked++;
    const upstream = open("sotw", {
      opened: () => upstream.send(request(node, typeUrl, names)),
      message: (bytes) => {
        if (responseType("sotw", bytes) === typeUrl) resolve(new Uint8Array(bytes));
      },
      closed: (reason) => reject(new RpcError(Code.UNAVAILABLE, reason)),
    });
    try {
      return await promise;
    } finally {
      asked--;
      cancel();
      signal.removeEventListener("abort", left);
      upstream.close();
    }
  };
}

/** `DiscoveryRequest`: node = 2 (id = 1), resource_names = 3, type_url = 4. */
function request(node: string, typeUrl: string, names: readonly string[]): Uint8Array {
  const out = new MessageWriter().bytes(2, new MessageWriter().string(1, node).finish());
  for (const name of names) out.string(3, name);
  return out.string(4, typeUrl).finish();
}

/**
 * The question in a `DiscoveryRequest`.
 * @throws {RpcError} INVALID_ARGUMENT for another request.
 */
export function questionOf(typeUrl: string, bytes: Uint8Array): ServerQuestion {
  if (typeUrl === DEBUG_TYPE || typeUrl.startsWith(`${DEBUG_TYPE}/`)) return { typeUrl, names: requestNames(bytes) };
  const got = `type_url: got ${JSON.stringify(typeUrl.slice(0, 200))}`;
  throw new RpcError(Code.INVALID_ARGUMENT, `${got}, expected ${DEBUG_TYPE}: configuration is the proxy's alone`);
}
