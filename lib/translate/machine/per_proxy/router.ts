/**
 * The listeners and routes of a gateway, from the selecting Gateway objects and the services at the gateway's
 * addresses. Replicas of a gateway share the results.
 *
 *     gateways ─> plan ─┬─> listeners
 *                       └─> route configurations ─> virtual hosts, each built again only when its own sources changed
 *
 * @module
 */
import type { ServiceTarget } from "../../../registry/inbound.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { Caches } from "../cache/caches.ts";
import { type BuiltPlannedHost, serviceTargetsName } from "../results/gateway_plan.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import { encodeInlineRouteConfiguration, encodeRouteConfiguration, encodeVirtualHost } from "../../encode/encode.ts";
import type { PlannedVirtualHost } from "../../gateway/route_plan.ts";
import { closedVirtualHost } from "../../gateway/routes.ts";
import type { TranslationNote } from "../../message/notes.ts";
import { type PatchedBareRoutes, withAddedVirtualHosts } from "../../patches/routes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import { type PerProxyResources, replaced } from "./resources.ts";

/** Listeners and routes of a gateway workload. */
export class RouterResources implements PerProxyResources {
  readonly listeners: ResourceSet;
  readonly routes: ResourceSet;
  readonly clusters: ResourceSet;
  readonly secrets: ResourceSet;
  readonly results: readonly TranslationResult<unknown>[];
  readonly #virtualHosts: Map<string, ResourceSet> = new Map();

  /** @param before The former resources: unchanged sets stay the same objects. */
  constructor(
    caches: Caches,
    targets: readonly ServiceTarget[],
    source: ScopeReader,
    before: RouterResources | undefined,
  ) {
    const { empty } = caches;
    const planned = caches.of.gatewayPlans.get(serviceTargetsName(targets), source, targets);
    const results: TranslationResult<unknown>[] = [planned];
    this.clusters = empty;
    if (before && planned.failed) {
      // After an exception of a builder the former resources stay in force.
      this.listeners = before.listeners;
      this.routes = before.routes;
      this.secrets = before.secrets;
      this.#virtualHosts = before.#virtualHosts;
      this.results = [...before.results.filter((old) => !old.failed), planned];
      return;
    }
    const routes: EncodedResource[] = [];
    for (const { plan, bare } of planned.value.routes) {
      const hosts = plan.entries.map((entry) =>
        caches.of.gatewayVirtualHosts.get(`${entry.routeConfiguration}/${entry.name}`, source, entry)
      );
      results.push(...hosts);
      const old = before?.virtualHosts(plan.name) ?? empty;
      const { vhds } = source.properties;
      const found = hosts.flatMap(({ value, failed }, i) => {
        return value?.resource ?? (failed ? old.get(`${plan.name}/${plan.entries[i]!.name}`) ?? [] : []);
      });
      const resources = found.length === 0 && vhds ? [encodeVirtualHost(plan.name, closedVirtualHost(plan))] : found;
      this.#virtualHosts.set(plan.name, replaced(old, resources));
      const isInline = resources.length > 0 && !vhds;
      const built = withAdded(bare, hosts);
      routes.push(isInline ? encodeInlineRouteConfiguration(built, resources) : encodeRouteConfiguration(built));
    }
    this.listeners = replaced(before?.listeners ?? empty, planned.value.listeners);
    this.routes = replaced(before?.routes ?? empty, routes);
    this.secrets = replaced(before?.secrets ?? empty, planned.value.secrets);
    this.results = results;
  }

  get failing(): boolean {
    return this.results.some((result) => result.failed);
  }

  virtualHosts(routeConfiguration: string): ResourceSet | undefined {
    return this.#virtualHosts.get(routeConfiguration);
  }

  *notes(): Iterable<TranslationNote> {
    for (const result of this.results) yield* result.notes ?? [];
  }
}

/** The route configuration with the additions of patches. */
function withAdded(
  bare: PatchedBareRoutes,
  hosts: readonly TranslationResult<BuiltPlannedHost | undefined, PlannedVirtualHost>[],
): PatchedBareRoutes["built"] {
  const owners = new Map<string, string>();
  const removed = new Set<string>();
  for (const { input, value, failed } of bare.added.length > 0 ? hosts : []) {
    if (value?.resource === undefined && !failed) removed.add(input.name);
    for (const domain of value?.domains ?? []) owners.set(domain, input.name);
  }
  return withAddedVirtualHosts(bare, {
    removed: (name) => removed.has(name),
    owner: (domain) => owners.get(domain),
  }).built;
}
