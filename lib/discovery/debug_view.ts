/**
 * What the pages look at, from the parts of a server.
 *
 * @module
 */
import type { ConfigStore } from "../config/store.ts";
import type { DebugView } from "../debug/view.ts";
import type { Log } from "../kernel/log/log.ts";
import type { XdsServer } from "../xds/server.ts";
import type { ConfigSource } from "./config_source.ts";
import type { MeshSource } from "./mesh_source.ts";
import type { Pipeline } from "./pipeline.ts";
import type { UnenforcedPolicies } from "./policies.ts";
import type { RootNamespaceReview } from "./root_namespace.ts";

/** The inside of a server whose parts are these; `folder` is undefined where there is none. */
export function debugView({ pipeline, xds, store, mesh, folder, rootNamespace, policies, log }: {
  readonly pipeline: Pipeline;
  readonly xds: XdsServer;
  readonly store: ConfigStore;
  readonly mesh: MeshSource;
  readonly folder: ConfigSource | undefined;
  readonly rootNamespace: RootNamespaceReview;
  readonly policies: UnenforcedPolicies;
  readonly log: Log;
}): DebugView {
  return {
    store,
    xds,
    log,
    services: pipeline.aggregate,
    endpoints: pipeline.endpoints,
    get mesh() {
      return pipeline.mesh;
    },
    get networks() {
      return mesh.state.networks;
    },
    get translator() {
      return pipeline.translator;
    },
    warnings: () => pipeline.warnings(),
    findings: () => [...mesh.findings(), ...folder?.findings() ?? [], ...rootNamespace.findings()],
    policyWarnings: () => policies.warnings(),
    isStale: (object) => folder?.isStale(object) ?? false,
    settled: () => folder?.settled() ?? Promise.resolve(),
    changedIn: (key) => pipeline.changedIn(key),
    isWaiting: (key) => pipeline.isWaiting(key),
    onPush: (listener) => pipeline.onPush(listener),
    pushAll: () => pipeline.pushAll(),
  };
}
