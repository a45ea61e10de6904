/**
 * The interface between the discovery service and the pages that clients may ask for on their streams, by requests of
 * type `istio.io/debug`. The service knows the client; the pages decide on its permissions.
 *
 * @module
 */
import type { ConnectRequest } from "./source.ts";

/** Type of requests for pages; types below it (`istio.io/debug/syncz`) have answers of their own. Not a resource type. */
export const DEBUG = "istio.io/debug";

/** Whether requests of a type ask for pages. */
export function isDebugType(typeUrl: string): boolean {
  return typeUrl === DEBUG || typeUrl.startsWith(`${DEBUG}/`);
}

/** A question of a client. */
export interface DebugQuestion {
  /** {@linkcode DEBUG}, or a type below it. */
  readonly typeUrl: string;
  /** Names of pages with their queries, such as `config_dump?proxyID=a.shop`. */
  readonly names: readonly string[];
  /** The client's SPIFFE ID, proven and found to fit its node. */
  readonly identity: string;
}

/** A part of an answer: on the wire a resource. */
export interface DebugResource {
  readonly name: string;
  /** Of the `Any` that carries it. */
  readonly typeUrl: string;
  /** Content of that, as runs of bytes; must not change afterwards. */
  readonly runs: readonly Uint8Array[];
}

/** Answers questions. */
export interface DebugAnswers {
  /**
   * The proven identity of a client whose stream carries no configuration; undefined: it has none.
   *
   * @throws {RpcError} UNAUTHENTICATED or PERMISSION_DENIED, or INVALID_ARGUMENT where the node is none
   */
  identify(request: ConnectRequest): Promise<string | undefined>;
  /** Whether a client with an identity may know of another client, by the identity of that one. */
  sees(identity: string, other: string | undefined): boolean;
  /**
   * The answer. It must not keep the event loop for long.
   *
   * @param signal The client has gone.
   * @throws {RpcError} when there is none: PERMISSION_DENIED, INVALID_ARGUMENT, RESOURCE_EXHAUSTED
   */
  answer(question: DebugQuestion, signal: AbortSignal): Promise<readonly DebugResource[]>;
}
