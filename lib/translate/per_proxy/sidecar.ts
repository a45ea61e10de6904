/**
 * What is a sidecar's own: the clusters and listeners that carry traffic to its workload. Workloads that serve the same
 * ports in the same way share them.
 *
 * @module
 */
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { InvalidatedKeys } from "../reader/invalidated_keys.ts";
import type { InboundTarget } from "../inbound/target.ts";
import type { Reader } from "../reader/reader.ts";
import type { BaseReader } from "../reader/read_record.ts";
import { makeUnit, type Unit, type UnitCacheOptions } from "../reader/build_cache.ts";
import type { Warn, Warning } from "../message/warning.ts";

/** What one proxy has for itself, whatever its type. */
export interface Own {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
  readonly routes: ResourceSet;
  /** Certificates in files that its listeners ask for. */
  readonly secrets: ResourceSet;
  /** The virtual hosts that a route configuration of its own gets by VHDS. */
  virtualHosts(routeConfiguration: string): ResourceSet | undefined;
  /** Whether one of these changes what it is made from. */
  dependsOnAny(changed: InvalidatedKeys): boolean;
  /** What users wrote for it and do not get. */
  warnings(): Iterable<Warning>;
}

/** The inbound side of a sidecar. */
export class SidecarOwn implements Own {
  readonly unit: Unit<OwnResources>;
  readonly routes: ResourceSet;

  constructor(unit: Unit<OwnResources>, empty: ResourceSet) {
    this.unit = unit;
    this.routes = empty;
  }

  get clusters(): ResourceSet {
    return this.unit.value.clusters;
  }

  get listeners(): ResourceSet {
    return this.unit.value.listeners;
  }

  get secrets(): ResourceSet {
    return this.unit.value.secrets;
  }

  /** Inbound routes are inside their listeners. */
  virtualHosts(_routeConfiguration: string): undefined {
    return undefined;
  }

  dependsOnAny(changed: InvalidatedKeys): boolean {
    return this.unit.trace.dependsOnAny(changed);
  }

  warnings(): readonly Warning[] {
    return this.unit.warnings ?? [];
  }
}

/** Inbound resources of one workload. */
export interface OwnResources {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
  readonly secrets: ResourceSet;
}

/** Builds and encodes inbound resources. */
export type BuildOwn = (read: Reader, targets: readonly InboundTarget[], warn: Warn) => {
  readonly clusters: readonly EncodedResource[];
  readonly listeners: readonly EncodedResource[];
  readonly secrets: readonly EncodedResource[];
};

interface Entry {
  readonly targets: readonly InboundTarget[];
  readonly unit: Unit<OwnResources>;
}

/** Variants kept for one list of ports. */
const MAX_VARIANTS = 32;

/** Inbound resources by what they were made from. */
export class OwnCache {
  readonly #build: BuildOwn;
  readonly #options: UnitCacheOptions<OwnResources>;
  readonly #empty: ResourceSet;
  /** By the shape of the list; the services themselves are compared by identity. */
  #entries = new Map<string, Entry[]>();

  constructor(build: BuildOwn, options: UnitCacheOptions<OwnResources>, empty: ResourceSet) {
    this.#build = build;
    this.#options = options;
    this.#empty = empty;
  }

  /** The inbound resources of a workload that serves these ports. */
  get(targets: readonly InboundTarget[], reader: BaseReader): SidecarOwn {
    return new SidecarOwn(this.#unit(targets, reader), this.#empty);
  }

  #unit(targets: readonly InboundTarget[], reader: BaseReader): Unit<OwnResources> {
    const key = targets.map((t) => `${t.port}/${t.service?.namespace}/${t.service?.hostname}`).join();
    const entries = this.#entries.get(key) ?? [];
    if (this.#options.enabled) {
      const known = entries.find((entry) => same(entry.targets, targets) && entry.unit.trace.holds(reader));
      if (known) return known.unit;
    }
    const unit = makeUnit(key, reader, (read, warn) => this.#sets(read, targets, warn), this.#options);
    if (!unit.failed) this.#entries.set(key, [{ targets, unit }, ...entries].slice(0, MAX_VARIANTS));
    return unit;
  }

  #sets(read: Reader, targets: readonly InboundTarget[], warn: Warn): OwnResources {
    const { clusters, listeners, secrets } = this.#build(read, targets, warn);
    const empty = this.#empty;
    return { clusters: empty.with(clusters), listeners: empty.with(listeners), secrets: empty.with(secrets) };
  }

  /** Forgets entries that no list in use has; to be called now and then. */
  sweep(inUse: Iterable<Own | undefined>): void {
    const used = new Set([...inUse].map((own) => own instanceof SidecarOwn ? own.unit : undefined));
    const kept = new Map<string, Entry[]>();
    for (const [key, entries] of this.#entries) {
      const live = entries.filter((entry) => used.has(entry.unit));
      if (live.length > 0) kept.set(key, live);
    }
    this.#entries = kept;
  }
}

function same(a: readonly InboundTarget[], b: readonly InboundTarget[]): boolean {
  return a.length === b.length && a.every((target, i) => sameTarget(target, b[i]!));
}

function sameTarget(a: InboundTarget, b: InboundTarget): boolean {
  return a.service === b.service && a.port === b.port && a.bind === b.bind && a.captureMode === b.captureMode &&
    a.defaultEndpoint === b.defaultEndpoint && a.fromSidecarIngress === b.fromSidecarIngress && a.tls === b.tls &&
    a.connectionPool === b.connectionPool && a.sidecar === b.sidecar && samePlain(a.servicePort, b.servicePort) &&
    samePlain(a.workloadAddresses, b.workloadAddresses) && sameServices(a.otherServices, b.otherServices) &&
    sameServices(a.rejectedServices, b.rejectedServices);
}

function samePlain(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function sameServices(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  return a.length === b.length && a.every((service, i) => service === b[i]);
}
