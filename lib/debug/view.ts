/**
 * What the pages look at.
 *
 * Permissions: none.
 *
 * @module
 */
import type { Problem } from "../config/finding.ts";
import type { MeshConfig, MeshNetworks } from "../config/mesh/types.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Log } from "../kernel/log/log.ts";
import type { Aggregate, EndpointIndex } from "../registry/mod.ts";
import type { Translator } from "../translate/translator.ts";
import type { XdsServer } from "../xds/server.ts";

/** The inside of a discovery server. */
export interface DebugView {
  readonly store: ConfigStore;
  readonly services: Aggregate;
  readonly endpoints: EndpointIndex;
  readonly xds: XdsServer;
  readonly mesh: MeshConfig;
  readonly networks: MeshNetworks;
  readonly translator: Translator;
  readonly log: Log;
  /** What is wrong with configuration now. */
  problems(): Iterable<Problem>;
  /** The push in which an object last changed; undefined: no such object. */
  changedIn(objectKey: string): number | undefined;
  /** Pushes everything again to all; tells to how many proxies. */
  pushAll(): number;
}
