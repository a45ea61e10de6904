/**
 * The listeners by which a gRPC library serves its workload's ports, at each address on which it may listen: all
 * addresses of the machine, the loopback ones, and the workload's own. Replicas of a workload share the demands of
 * ports.
 *
 * A library names the address itself. Those that it may name are listed here instead, so that nothing depends on the
 * names that a client asks for.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../../incremental/keys.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches } from "../cache/caches.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import { inboundTargetsName } from "../../inbound/same_targets.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import { type EncodedPort, encodeServerListener } from "../../encode/server_listener.ts";
import { serverListenerName } from "../../proxyless/servers.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import { type PerProxyResources, replaced } from "./resources.ts";

/** Addresses that say nothing about the workload. */
const EVERYWHERE: readonly string[] = ["0.0.0.0", "::", "127.0.0.1", "::1"];

/** The resources of a library that serves. */
export class LibraryResources implements PerProxyResources {
  readonly listeners: ResourceSet;
  readonly clusters: ResourceSet;
  readonly routes: ResourceSet;
  readonly secrets: ResourceSet;
  readonly #result: TranslationResult<readonly EncodedPort[]>;

  /**
   * @param addresses Of the workload.
   * @param before The former resources: the same set where nothing changes, and in force where a builder throws.
   */
  constructor(
    caches: Caches,
    targets: readonly InboundTarget[],
    addresses: readonly string[],
    source: MeshAnswers,
    before: LibraryResources | undefined,
  ) {
    this.clusters = this.routes = this.secrets = caches.empty;
    this.#result = caches.of.libraryPorts.get(inboundTargetsName(targets), source, targets);
    if (before && this.failing) {
      this.listeners = before.listeners;
      return;
    }
    const all = [...new Set([...EVERYWHERE, ...addresses])];
    const listeners = this.#result.value.flatMap((one) =>
      all.map((address) => encodeServerListener(serverListenerName(address, one.port), address, one))
    );
    this.listeners = replaced(before?.listeners ?? caches.empty, listeners);
  }

  get failing(): boolean {
    return this.#result.failed === true;
  }

  virtualHosts(_routeConfiguration: string): undefined {
    return undefined;
  }

  dependsOnAny(keys: InvalidatedKeys): boolean {
    return this.#result.record.dependsOnAny(keys);
  }

  notes(): readonly TranslationNote[] {
    return this.#result.notes ?? [];
  }

  results(): readonly TranslationResult<unknown>[] {
    return [this.#result];
  }
}
