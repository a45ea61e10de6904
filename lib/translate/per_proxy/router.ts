/**
 * What is a gateway's own: its listeners and routes, from the Gateway objects that select it and the services at its
 * addresses. Replicas of one gateway share what they are made of.
 *
 *     gateways ─> plan ─┬─> listeners
 *                       └─> route configurations ─> virtual hosts, each built again only when its own sources changed
 *
 * @module
 */
import type { ServiceTarget } from "../../registry/inbound.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { Built } from "../message/built.ts";
import { gatewayListener } from "../gateway/listeners.ts";
import { mergedGateways } from "../gateway/merge.ts";
import { gatewayRoutePlans, type PlannedVirtualHost, type RoutePlan, samePlan } from "../gateway/route_plan.ts";
import { gatewayRouteConfiguration, gatewayVirtualHost } from "../gateway/routes.ts";
import type { InvalidatedKeys } from "../reader/invalidated_keys.ts";
import type { Reader } from "../reader/reader.ts";
import type { BaseReader } from "../reader/read_record.ts";
import { makeUnit, type Unit, type UnitCacheOptions } from "../reader/build_cache.ts";
import { gatewayWarning } from "../gateway/problem.ts";
import { type Warn, warned, type Warning } from "../message/warning.ts";
import {
  encodeInlineRouteConfiguration,
  encodeListener,
  encodeRouteConfiguration,
  encodeSecrets,
  encodeVirtualHost,
} from "../encode/encode.ts";
import type { Own } from "./sidecar.ts";

/** What a gateway serves, before its virtual hosts are built. */
interface GatewayPlan {
  readonly listeners: readonly EncodedResource[];
  readonly secrets: readonly EncodedResource[];
  readonly routes: readonly { readonly plan: RoutePlan; readonly bare: Built<object> }[];
}

type VirtualHostUnit = Unit<EncodedResource | undefined>;

/** Variants kept for one plan or virtual host. */
const MAX_VARIANTS = 32;

/** Plans and virtual hosts of gateways, shared by all replicas. */
export class RouterCache {
  readonly #options: Pick<UnitCacheOptions<unknown>, "enabled" | "failed">;
  readonly #plans = new Map<string, { targets: readonly ServiceTarget[]; unit: Unit<GatewayPlan> }[]>();
  readonly #hosts = new Map<string, { entry: PlannedVirtualHost; unit: VirtualHostUnit }[]>();

  constructor(options: Pick<UnitCacheOptions<unknown>, "enabled" | "failed">) {
    this.#options = options;
  }

  /** The plan of a gateway whose workload runs these services. */
  plan(targets: readonly ServiceTarget[], reader: BaseReader): Unit<GatewayPlan> {
    const key = targets.map((t) => `${t.endpointPort}/${t.service.namespace}/${t.service.hostname}`).join();
    const known = this.#plans.get(key) ?? [];
    if (this.#options.enabled) {
      const found = known.find((k) => sameTargets(k.targets, targets) && k.unit.trace.holds(reader));
      if (found) return found.unit;
    }
    const fallback = { listeners: [], routes: [], secrets: [] };
    const unit = makeUnit("gateway", reader, (read, warn) => plan(read, targets, warn), { ...this.#options, fallback });
    if (!unit.failed) this.#plans.set(key, [{ targets, unit }, ...known].slice(0, MAX_VARIANTS));
    return unit;
  }

  /** One virtual host. */
  virtualHost(entry: PlannedVirtualHost, reader: BaseReader): VirtualHostUnit {
    const key = `${entry.routeConfiguration}/${entry.name}`;
    const known = this.#hosts.get(key) ?? [];
    if (this.#options.enabled) {
      const found = known.find((k) => samePlan(k.entry, entry) && k.unit.trace.holds(reader));
      if (found) return found.unit;
    }
    const unit = makeUnit(key, reader, (read, warn) => virtualHost(read, entry, warn), {
      ...this.#options,
      fallback: undefined,
    });
    if (!unit.failed) this.#hosts.set(key, [{ entry, unit }, ...known].slice(0, MAX_VARIANTS));
    return unit;
  }
}

/** Listeners and routes of one gateway workload. */
export class RouterOwn implements Own {
  readonly listeners: ResourceSet;
  readonly routes: ResourceSet;
  readonly clusters: ResourceSet;
  readonly secrets: ResourceSet;
  readonly #units: readonly Unit<unknown>[];
  readonly #virtualHosts: Map<string, ResourceSet> = new Map();

  /** @param before What it was, so that sets which do not change stay the same objects. */
  constructor(
    cache: RouterCache,
    empty: ResourceSet,
    targets: readonly ServiceTarget[],
    reader: BaseReader,
    before: RouterOwn | undefined,
  ) {
    const unit = cache.plan(targets, reader);
    const units: Unit<unknown>[] = [unit];
    this.clusters = empty;
    if (before && unit.failed) {
      // A builder that threw costs nobody what is in force.
      this.listeners = before.listeners;
      this.routes = before.routes;
      this.secrets = before.secrets;
      this.#virtualHosts = before.#virtualHosts;
      this.#units = [...before.#units.filter((old) => !old.failed), unit];
      return;
    }
    const routes: EncodedResource[] = [];
    for (const { plan, bare } of unit.value.routes) {
      const hosts = plan.entries.map((entry) => cache.virtualHost(entry, reader));
      units.push(...hosts);
      const old = before?.virtualHosts(plan.name) ?? empty;
      const resources = hosts.flatMap(({ value, failed }, i) => {
        return value ?? (failed ? old.get(`${plan.name}/${plan.entries[i]!.name}`) ?? [] : []);
      });
      this.#virtualHosts.set(plan.name, replaced(old, resources));
      const bound = resources.length > 0 && !reader.properties.vhds;
      routes.push(bound ? encodeInlineRouteConfiguration(bare, resources) : encodeRouteConfiguration(bare));
    }
    this.listeners = replaced(before?.listeners ?? empty, unit.value.listeners);
    this.routes = replaced(before?.routes ?? empty, routes);
    this.secrets = replaced(before?.secrets ?? empty, unit.value.secrets);
    this.#units = units;
  }

  /** Whether a builder threw: what there was before stands in for what it would have made. */
  get failing(): boolean {
    return this.#units.some((unit) => unit.failed);
  }

  virtualHosts(routeConfiguration: string): ResourceSet | undefined {
    return this.#virtualHosts.get(routeConfiguration);
  }

  dependsOnAny(changed: InvalidatedKeys): boolean {
    return this.#units.some((unit) => unit.trace.dependsOnAny(changed));
  }

  *warnings(): Iterable<Warning> {
    for (const unit of this.#units) yield* unit.warnings ?? [];
  }
}

/** A set with just these resources, made from another by what differs. */
function replaced(set: ResourceSet, resources: readonly EncodedResource[]): ResourceSet {
  const names = new Set(resources.map((resource) => resource.name));
  return set.with(resources, [...set].map((resource) => resource.name).filter((name) => !names.has(name)));
}

function plan(read: Reader, targets: readonly ServiceTarget[], warn: Warn): GatewayPlan {
  const merged = mergedGateways(read, targets);
  const ports = merged.ports.map((port) => gatewayListener(read, port));
  for (const problem of [...merged.problems, ...ports.flatMap(({ problems }) => problems)]) {
    warn(gatewayWarning(problem));
  }
  const listeners = ports.flatMap(({ listener }) => listener ?? []);
  return {
    listeners: listeners.map(encodeListener),
    secrets: encodeSecrets(listeners),
    routes: [...gatewayRoutePlans(read, merged).values()].map((plan) => ({
      plan,
      bare: gatewayRouteConfiguration(read, plan),
    })),
  };
}

function virtualHost(read: Reader, entry: PlannedVirtualHost, warn: Warn): EncodedResource {
  const { message, causes } = warned("gateways", warn)(gatewayVirtualHost(read, entry));
  return encodeVirtualHost(entry.routeConfiguration, message, causes);
}

function sameTargets(a: readonly ServiceTarget[], b: readonly ServiceTarget[]): boolean {
  return a.length === b.length && a.every((target, i) => {
    const other = b[i]!;
    return target.service === other.service && target.port === other.port && target.endpointPort === other.endpointPort;
  });
}
