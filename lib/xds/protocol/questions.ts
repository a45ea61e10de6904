/**
 * The interface between the discovery service and the pages that clients may request on their streams, with requests of
 * type `istio.io/debug`. The service knows the client; the pages decide on its permissions.
 *
 * @module
 */
import type { ConnectRequest } from "./source.ts";

/**
 * Type of requests for pages, not of resources. Each type below (`istio.io/debug/syncz`) has answers of a separate
 * form.
 */
export const DEBUG = "istio.io/debug";

/** Whether requests of a type ask for pages. */
export function isDebugType(typeUrl: string): boolean {
  return typeUrl === DEBUG || typeUrl.startsWith(`${DEBUG}/`);
}

/** A question of a client. */
export interface DebugQuestion {
  /** {@linkcode DEBUG}, or a type below. */
  readonly typeUrl: string;
  /** Names of pages with queries, such as `config_dump?proxyID=a.shop`. */
  readonly names: readonly string[];
  /** The client's SPIFFE ID, proven and fitting the node. */
  readonly identity: string;
}

/** A part of an answer: on the wire a resource. */
export interface DebugResource {
  readonly name: string;
  /** The type of the `Any` around the content. */
  readonly typeUrl: string;
  /** The content, as runs of bytes. Must not change afterwards. */
  readonly runs: readonly Uint8Array[];
}

/** Answers questions. */
export interface DebugAnswers {
  /**
   * The proven identity of a client whose stream carries no configuration; undefined: the client has no identity.
   *
   * @throws {RpcError} UNAUTHENTICATED or PERMISSION_DENIED, or INVALID_ARGUMENT without a valid node
   */
  identify(request: ConnectRequest): Promise<string | undefined>;
  /** Whether a client with an identity may know of another client, given by the other's identity. */
  sees(identity: string, other: string | undefined): boolean;
  /**
   * The answer. Must not keep the event loop for long.
   *
   * @param signal Aborted when the client has gone.
   * @throws {RpcError} without an answer: PERMISSION_DENIED, INVALID_ARGUMENT, RESOURCE_EXHAUSTED
   */
  answer(question: DebugQuestion, signal: AbortSignal): Promise<readonly DebugResource[]>;
}
