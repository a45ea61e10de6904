/**
 * Which namespaces see a service: `exportTo` of the service, and the Sidecars of whole namespaces.
 *
 * @module
 */
import type { Mesh } from "../mesh/mesh.ts";
import { isNarrow, type Scope } from "../mesh/scope.ts";
import { destinationHosts } from "../mesh/virtual_service_index.ts";
import { MESH_GATEWAY } from "../mesh/sidecar_rules.ts";
import { parseImports } from "../mesh/imports.ts";
import type { Service } from "../registry/types.ts";

/** The namespaces that see a service, named by the shorter list. */
export type Seers =
  /** All namespaces but these. */
  | { readonly allBut: readonly string[] }
  | { readonly only: readonly string[] };

/** The view of every namespace. A Sidecar for chosen workloads is not part of a namespace's view. */
export class Visibility {
  readonly #mesh: Mesh;
  /** Namespaces that see everything exported to them. */
  readonly #wide: readonly string[];
  readonly #narrow: readonly string[];
  /** The namespaces with a Sidecar that see a service. */
  readonly #imported = new Map<Service, string[]>();

  /** @param namespaces of all callers */
  constructor(mesh: Mesh, namespaces: readonly string[]) {
    this.#mesh = mesh;
    const scopes = namespaces.map((namespace) => ({ namespace, scope: mesh.scope(namespace, {}) }));
    const narrow = scopes.filter(({ scope }) => isNarrow(scope.sidecar));
    this.#wide = scopes.filter(({ scope }) => !isNarrow(scope.sidecar)).map(({ namespace }) => namespace);
    this.#narrow = narrow.map(({ namespace }) => namespace);
    if (narrow.length === 0) return;
    const byNamespace = Map.groupBy(mesh.services.all(), ({ namespace }) => namespace);
    const destinations = destinationServices(mesh);
    for (const { namespace, scope } of narrow) {
      for (const service of candidates(scope, byNamespace, destinations, namespace)) {
        if (scope.service(service.hostname) !== service) continue;
        this.#imported.getOrInsertComputed(service, () => []).push(namespace);
      }
    }
  }

  /** The namespaces that see a service. */
  of(service: Service): Seers {
    const imported = this.#imported.get(service) ?? [];
    const { services } = this.#mesh;
    const isPublic = services.isOnlyOf(service.hostname, service.namespace);
    const wide = isPublic
      ? this.#wide
      : this.#wide.filter((namespace) => services.visible(service.hostname, namespace) === service);
    const seen = wide.length + imported.length;
    if (2 * seen < this.#wide.length + this.#narrow.length) return { only: [...wide, ...imported].sort() };
    if (seen === this.#wide.length + this.#narrow.length) return ALL;
    const seers = new Set([...wide, ...imported]);
    return { allBut: [...this.#wide, ...this.#narrow].filter((namespace) => !seers.has(namespace)).sort() };
  }
}

const ALL: Seers = { allBut: [] };

/** Whether a namespace sees a service. */
export function sees(seers: Seers, namespace: string): boolean {
  return "only" in seers ? seers.only.includes(namespace) : !seers.allBut.includes(namespace);
}

/** The services that a Sidecar may show: of the imported namespaces, and destinations of routes. */
function candidates(
  { sidecar }: Scope,
  byNamespace: ReadonlyMap<string, readonly Service[]>,
  destinations: ReadonlySet<Service>,
  own: string,
): Set<Service> {
  const hosts = (sidecar?.spec.egress ?? []).flatMap((egress) => egress.hosts);
  const names = new Set(parseImports(hosts, own).map(({ namespace }) => namespace));
  const chosen = names.has("*") ? [...byNamespace.values()] : [...names].map((name) => byNamespace.get(name) ?? []);
  return new Set([...chosen.flat(), ...destinations]);
}

function destinationServices(mesh: Mesh): Set<Service> {
  const found = new Set<Service>();
  for (const rule of mesh.virtualServices.all()) {
    if (!rule.gateways.includes(MESH_GATEWAY)) continue;
    for (const host of destinationHosts(rule)) for (const service of mesh.services.of(host)) found.add(service);
  }
  return found;
}
