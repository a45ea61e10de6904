/**
 * Interfaces for previews and explanations. Both need more of the library than pages do, so other packages implement
 * the interfaces.
 *
 * @module
 */
import type { MeshConfig } from "../config/mesh/types.ts";
import type { FactStore } from "../config/facts/store.ts";
import type { Finding } from "../finding/finding.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Aggregate } from "../registry/aggregate.ts";
import type { EndpointIndex } from "../registry/endpoint_index.ts";
import type { Translator } from "../translate/machine/translator.ts";
import type { XdsServer } from "../xds/server.ts";
import type { MeshServiceDescription, PodDescription } from "./description.ts";
import type { Explanation } from "./explanation.ts";
import type { ServedTunnels } from "./tunnel_sets.ts";

/** The part of a server that previews and explanations look at. */
export interface AskedServer {
  readonly store: ConfigStore;
  readonly facts: FactStore;
  readonly services: Aggregate;
  readonly endpoints: EndpointIndex;
  readonly xds: XdsServer;
  readonly mesh: MeshConfig;
  readonly translator: Translator;
  /** What node tunnels get; undefined: the server serves no tunnels. */
  readonly tunnels: ServedTunnels | undefined;
  /** The present findings about the server's configuration. */
  findings(): Iterable<Finding>;
}

/** Answers previews. */
export interface PreviewRunner {
  /** Whether a preview is being answered. */
  readonly busy: boolean;
  /**
   * Answers a preview, as plain JSON.
   *
   * @param body Not parsed yet; the runner parses the bytes.
   * @throws {PreviewFailed} when there is no answer
   */
  run(body: Uint8Array, server: AskedServer, signal: AbortSignal): Promise<unknown>;
}

/** Why there is no answer. */
export class PreviewFailed extends Error {
  override readonly name = "PreviewFailed";

  /** @param status Of the response: 400 for a wrong request, 503 for a slow answer. */
  constructor(message: string, readonly status: 400 | 503) {
    super(message);
  }
}

/** A question about a request. */
export interface ExplainAsked {
  /** Namespace/name, name.namespace or address of a connected proxy or of a pod without a proxy; a proxy's node id. */
  readonly from: string;
  /** A URL, or `host:port`. */
  readonly to: string;
  readonly method: string;
  /** Each as `name: value`. */
  readonly headers: readonly string[];
}

/** A question about a pod or a service. Exactly one of the two is given. */
export interface DescribeAsked {
  /** `name.namespace`, `namespace/name`, a name that only one namespace has, or an address. */
  readonly pod?: string | undefined;
  /** The same, or a host. */
  readonly service?: string | undefined;
}

type Described = PodDescription | MeshServiceDescription;

/** Explains how a proxy handles a request, and describes what a request meets. */
export interface Explainer {
  /** @throws {NotExplained} for an unreadable question, or a proxy that is not connected */
  explain(asked: ExplainAsked, server: AskedServer): Promise<Explanation>;
  /** @throws {NotExplained} for a name that fits no pod and no service */
  describe(asked: DescribeAsked, server: AskedServer): Described | Promise<Described>;
}

/** The fault of a question, in a sentence. */
export class NotExplained extends Error {
  override readonly name = "NotExplained";
}
