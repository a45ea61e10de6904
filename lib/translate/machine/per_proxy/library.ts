/**
 * The listeners of a serving gRPC library, at each address on which the library may listen: all addresses of the
 * machine, the loopback addresses, and the addresses of the workload. Replicas of a workload share the demands of
 * ports.
 *
 * A library names the address itself. All possible addresses are listed here instead, so that nothing depends on the
 * names in a client's requests.
 *
 * @module
 */
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import { inboundTargetsName } from "../../inbound/same_targets.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import { type EncodedPort, encodeServerListener } from "../../encode/server_listener.ts";
import { serverListenerName } from "../../proxyless/servers.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { type PerProxyResources, replaced } from "./resources.ts";

/** Addresses without information about the workload. */
const EVERYWHERE: readonly string[] = ["0.0.0.0", "::", "127.0.0.1", "::1"];

/** The resources of a serving library. */
export class LibraryResources implements PerProxyResources {
  readonly listeners: ResourceSet;
  readonly clusters: ResourceSet;
  readonly routes: ResourceSet;
  readonly secrets: ResourceSet;
  readonly results: readonly [TranslationResult<readonly EncodedPort[]>];

  /**
   * @param addresses Of the workload.
   * @param before The former resources: the same set where nothing changes, and in force where a builder throws.
   */
  constructor(
    caches: Caches,
    targets: readonly InboundTarget[],
    addresses: readonly string[],
    source: ScopeReader,
    before: LibraryResources | undefined,
  ) {
    this.clusters = this.routes = this.secrets = caches.empty;
    const result = caches.of.libraryPorts.get(inboundTargetsName(targets), source, targets);
    this.results = [result];
    if (before && this.failing) {
      this.listeners = before.listeners;
      return;
    }
    const all = [...new Set([...EVERYWHERE, ...addresses])];
    const listeners = result.value.flatMap((one) =>
      all.map((address) => encodeServerListener(serverListenerName(address, one.port), address, one))
    );
    this.listeners = replaced(before?.listeners ?? caches.empty, listeners);
  }

  get failing(): boolean {
    return this.results[0].failed === true;
  }

  virtualHosts(_routeConfiguration: string): undefined {
    return undefined;
  }

  notes(): readonly TranslationNote[] {
    return this.results[0].notes ?? [];
  }
}
