/**
 * The scopes of all workloads that were asked about: one for all that see the same.
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

/** The parts of a change that may have changed what scopes see. */
export interface VisibilityChange {
  /** Hosts whose services changed. */
  readonly services: Iterable<string>;
  /** Hosts, some may be wildcards, whose destination rules changed. */
  readonly destinationRules: Iterable<string>;
  /** Namespaces in which destination rules came or went. */
  readonly ruleNamespaces: Iterable<string>;
  readonly virtualServiceChange: VirtualServiceDelta;
}

/** All scopes in use. */
export class Scopes {
  readonly #indexes: MeshIndexes;
  readonly #distinctions = new Distinctions();
  /** Namespaces that see the same where no Sidecar narrows it. */
  readonly #wide: NamespaceViews;
  /** The same where a Sidecar may hide the services that a namespace's own destination rules are for. */
  readonly #narrow: NamespaceViews;
  /** Each namespace for itself. */
  readonly #alone = new NamespaceViews((namespace) => namespace);
  /** By view and key of the Sidecar. */
  readonly #scopes = new Map<SharedView, Map<string, Scope>>();

  /** @param shared False: namespaces that see the same have scopes of their own all the same. */
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

  /** The scope of workloads that a Sidecar is for; the same object for all that see the same. */
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

  /** Whether a scope may still be that of a workload. */
  has(scope: Scope): boolean {
    return this.#scopes.get(scope.view)?.get(scope.sidecar?.key ?? "") === scope;
  }

  /**
   * Takes in the changes of the indexes.
   *
   * @returns The namespaces whose workloads have other scopes now.
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

  /** Drops the scopes of views that no namespace has any more. */
  #dropVacant(): void {
    for (const view of this.#scopes.keys()) if (view.representative === "") this.#scopes.delete(view);
  }

  /** Drops the scopes of Sidecars that are gone. */
  dropSidecars(keys: ReadonlySet<string>): void {
    if (keys.size === 0) return;
    for (const scopes of this.#scopes.values()) for (const key of scopes.keys()) if (keys.has(key)) scopes.delete(key);
  }

  /**
   * Keeps the scopes' counts of destinations true.
   *
   * @returns Hosts that some scope now sees, or no longer sees, because a virtual service sends there.
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

  /** The things that two scopes see differently; undefined: they may differ in more than is known. */
  differences(a: Scope, b: Scope): Distinction[] | undefined {
    if (a.sidecar !== b.sidecar || isNarrow(a.sidecar)) return undefined;
    return this.#distinctions.between(a.namespace, b.namespace);
  }

  /** Forgets the scopes that only other namespaces than these have; to be called regularly. */
  keep(namespaces: ReadonlySet<string>): void {
    for (const views of new Set([this.#wide, this.#narrow, this.#alone])) views.keep(namespaces);
    this.#dropVacant();
  }
}
