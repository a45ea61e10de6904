/**
 * The caches of the resources of gRPC libraries, shared by all of them. Without libraries they are empty and cost
 * nothing.
 *
 * @module
 */
import type { EncodedResource } from "../../../resource/encoded.ts";
import { assignmentEncoder, encodeCluster, encodeListener, encodeRouteConfiguration } from "../../encode/encode.ts";
import { type EncodedPort, encodePort } from "../../encode/server_listener.ts";
import { sameTargets } from "../../inbound/same_targets.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import { reported } from "../../message/finding.ts";
import { clientAssignments } from "../../proxyless/assignments.ts";
import { clientClusters } from "../../proxyless/clusters.ts";
import { clientListeners } from "../../proxyless/listeners.ts";
import { clientRoutes } from "../../proxyless/routes.ts";
import { libraryPorts } from "../../proxyless/servers.ts";
import { type TranslationCache, translationCache } from "./translation_cache.ts";

/** Settings of a cache by the kind of its results. */
type OptionsOf = <T>(
  kind: "clusters" | "endpoints" | "inbound" | "listeners" | "routes",
  fallback: T,
  enabled?: boolean,
) => { enabled: boolean; fallback: T; failed: (name: string, error: unknown) => void };

type OfHost = TranslationCache<readonly EncodedResource[]>;

export class LibraryCaches {
  /** By host. */
  readonly clusters: OfHost;
  readonly assignments: OfHost;
  readonly listeners: OfHost;
  readonly routes: OfHost;
  /** By the ports of a workload: the demands of these on their callers. */
  readonly ports: TranslationCache<readonly EncodedPort[], readonly InboundTarget[]>;

  constructor(options: OptionsOf, on: { readonly clusters: boolean; readonly routes: boolean }) {
    const encodeAssignment = assignmentEncoder();
    this.clusters = translationCache(
      (read, host, _, report) => clientClusters(read, host, report).map(encodeCluster),
      options<readonly EncodedResource[]>("clusters", [], on.clusters),
    );
    this.assignments = translationCache(
      (read, host) => clientAssignments(read, host).map(encodeAssignment),
      options<readonly EncodedResource[]>("endpoints", []),
    );
    this.listeners = translationCache(
      (read, host) => clientListeners(read, host).map(encodeListener),
      options<readonly EncodedResource[]>("listeners", []),
    );
    this.routes = translationCache(
      (read, host, _, report) =>
        clientRoutes(read, host).map(reported("not-as-written", report)).map(encodeRouteConfiguration),
      options<readonly EncodedResource[]>("routes", [], on.routes),
    );
    this.ports = translationCache(
      (read, _, targets, report) => libraryPorts(read, targets, report).map(encodePort),
      { ...options<readonly EncodedPort[]>("inbound", []), sameInput: sameTargets },
    );
  }

  get ofHosts(): readonly OfHost[] {
    return [this.clusters, this.assignments, this.listeners, this.routes];
  }
}
