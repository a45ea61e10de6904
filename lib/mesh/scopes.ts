/**
 * The scopes of workloads. Workloads with the same view have the same scope.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import type { MeshIndexes } from "./indexes.ts";
import { isNarrow, namesOwnNamespace, Scope } from "./scope.ts";
import { type Distinction, Distinctions } from "./view/distinctions.ts";
import { NamespaceViews, type SharedView } from "./view/namespace_views.ts";
import type { VirtualServiceDelta } from "./virtual_service.ts";
import { virtualServiceDistinctions } from "./virtual_service_index.ts";

/** The parts of a change that may change the view of scopes. */
export interface VisibilityChange {
  /** Hosts with changed services. */
  readonly services: Iterable<string>;
  /** Hosts, possibly wildcards, with changed destination rules. */
  readonly destinationRules: Iterable<string>;
  /** Namespaces with changed destination rules. */
  readonly ruleNamespaces: Iterable<string>;
  readonly virtualServiceChange: VirtualServiceDelta;
}

/** All scopes in use. */
export class Scopes {
  readonly #indexes: MeshIndexes;
  readonly #distinctions = new Distinctions();
  /** Namespaces with the same view without a Sidecar. */
  readonly #wide: NamespaceViews;
  /**
   * Namespaces with the same view under a Sidecar: the Sidecar may hide the services behind a namespace's own
   * destination rules.
   */
  readonly #narrow: NamespaceViews;
  /** Each namespace alone. */
  readonly #alone = new NamespaceViews((namespace) => namespace);
  /** By view and key of the Sidecar. */
  readonly #scopes = new Map<SharedView, Map<string, Scope>>();

  /** @param shared False: every namespace has a scope of its own. */
  constructor(indexes: MeshIndexes, shared: boolean) {
    this.#indexes = indexes;
    const { destinationRules } = indexes;
    this.#wide = shared ? new NamespaceViews((namespace) => this.#distinctions.of(namespace)) : this.#alone;
    this.#narrow = shared
      ? new NamespaceViews((namespace) =>
        `${destinationRules.has(namespace) ? namespace : ""}|${this.#distinctions.of(namespace)}`
      )
      : this.#alone;
  }

  /** The scope of workloads with a Sidecar. Workloads with the same view have the same object. */
  of(namespace: string, sidecar: ConfigObject<"Sidecar"> | undefined): Scope {
    const view = this.#viewOf(namespace, sidecar);
    let scopes = this.#scopes.get(view);
    if (!scopes) this.#scopes.set(view, scopes = new Map());
    const key = sidecar?.key ?? "";
    const known = scopes.get(key);
    if (known && known.sidecar === sidecar) return known;
    const scope = new Scope(this.#indexes, view, sidecar);
    scopes.set(key, scope);
    return scope;
  }

  #viewOf(namespace: string, sidecar: ConfigObject<"Sidecar"> | undefined): SharedView {
    if (!sidecar || !isNarrow(sidecar)) return this.#wide.of(namespace);
    return namesOwnNamespace(sidecar) ? this.#alone.of(namespace) : this.#narrow.of(namespace);
  }

  /** Whether some workload may still have the scope. */
  has(scope: Scope): boolean {
    return this.#scopes.get(scope.view)?.get(scope.sidecar?.key ?? "") === scope;
  }

  /**
   * Takes in the changes of the indexes.
   *
   * @returns The namespaces of workloads with other scopes.
   */
  update(change: VisibilityChange): Set<string> {
    this.#distinguish(change);
    const changed = this.#distinctions.takeChanged();
    const moved = this.#wide.update(changed);
    if (this.#narrow !== this.#wide) {
      const narrowChanged = new Set([...changed, ...change.ruleNamespaces]);
      for (const namespace of this.#narrow.update(narrowChanged)) moved.add(namespace);
    }
    this.#dropVacant();
    return moved;
  }

  #distinguish({ services, destinationRules, virtualServiceChange: { removed, added } }: VisibilityChange): void {
    const { services: byHost, destinationRules: rules } = this.#indexes;
    const none = new Map<string, Distinction>();
    for (const { namespace, name } of removed) this.#distinctions.set(`v/${namespace}/${name}`, none);
    for (const vs of added) {
      this.#distinctions.set(`v/${vs.namespace}/${vs.name}`, virtualServiceDistinctions(vs));
    }
    const hosts = new Set(services);
    for (const host of hosts) this.#distinctions.set(`s/${host}`, byHost.distinctions(host));
    for (const host of new Set([...hosts, ...destinationRules])) {
      const isOnlyOf = (namespace: string) => byHost.isOnlyOf(host, namespace);
      this.#distinctions.set(`d/${host}`, rules.distinctions(host, isOnlyOf));
    }
  }

  /** Drops the scopes of views without a namespace. */
  #dropVacant(): void {
    for (const view of this.#scopes.keys()) if (view.representative === "") this.#scopes.delete(view);
  }

  /** Drops the scopes of removed Sidecars. */
  dropSidecars(keys: ReadonlySet<string>): void {
    if (keys.size === 0) return;
    for (const scopes of this.#scopes.values()) for (const key of scopes.keys()) if (keys.has(key)) scopes.delete(key);
  }

  /**
   * Updates the scopes' counts of destinations.
   *
   * @returns Hosts that came into or left the view of some scope as destinations of a virtual service.
   */
  virtualServicesChanged({ removed, added }: VirtualServiceDelta): Set<string> {
    const hosts = new Set<string>();
    for (const scopes of this.#scopes.values()) {
      for (const scope of scopes.values()) {
        for (const host of scope.virtualServicesChanged(removed, added)) hosts.add(host);
      }
    }
    return hosts;
  }

  /** The differences between two scopes. Undefined: there may be further differences. */
  differences(a: Scope, b: Scope): Distinction[] | undefined {
    if (a.sidecar !== b.sidecar || isNarrow(a.sidecar)) return undefined;
    return this.#distinctions.between(a.namespace, b.namespace);
  }

  /** Forgets the scopes of all other namespaces. Call it regularly. */
  keep(namespaces: ReadonlySet<string>): void {
    for (const views of new Set([this.#wide, this.#narrow, this.#alone])) views.keep(namespaces);
    this.#dropVacant();
  }
}
