/**
 * Gateway objects by gateway workload.
 *
 * @module
 */
import { passedHosts, type ServerHost } from "../config/kinds/gateway/hosts.ts";
import { isServedBy } from "../config/kinds/gateway/workloads.ts";
import type { ConfigObject } from "../config/types.ts";
import { SharedLists, SharedValues } from "../incremental/weak_table.ts";

type Gateway = ConfigObject<"Gateway">;

/** All Gateway objects of the mesh. */
export class GatewayIndex {
  #all: readonly Gateway[] = [];
  /** Whether a workload serves only objects of its own namespace. */
  readonly ownNamespaceOnly: boolean;
  /** Both hold lists weakly, because clients choose the labels: kept lists could fill the memory. */
  readonly #selections = new SharedLists<Gateway>();
  readonly #passed = new SharedValues<readonly ServerHost[]>();

  /**
   * @param ownNamespaceOnly `PILOT_SCOPE_GATEWAY_TO_NAMESPACE`: a workload serves only objects of its own namespace.
   */
  constructor(ownNamespaceOnly: boolean) {
    this.ownNamespaceOnly = ownNamespaceOnly;
  }

  /**
   * Replaces objects by others.
   *
   * @returns The namespaces of workloads whose objects may have changed. `*`: all.
   */
  update(removed: Iterable<Gateway>, added: Iterable<Gateway>): Set<string> {
    const out = new Set<string>();
    const put = [...added];
    for (const gateway of removed) out.add(gateway.key);
    for (const gateway of put) out.add(gateway.key);
    this.#all = [...this.#all.filter((g) => !out.has(g.key)), ...put].sort((a, b) =>
      a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : 1)
    );
    return new Set(["*"]);
  }

  /**
   * The objects that select a workload by labels, oldest first. An object without a selector selects all workloads.
   * Equal lists are the same array.
   */
  select(namespace: string, labels: Readonly<Record<string, string>>): readonly Gateway[] {
    return this.#selections.of(this.#all.filter((gateway) => {
      if (this.ownNamespaceOnly && gateway.meta.namespace !== namespace) return false;
      return isServedBy(gateway, { namespace, labels });
    }));
  }

  /**
   * The hosts to which a workload passes TLS on by server name, without ending TLS. Equal lists are the same array,
   * even after a change. For nearly all workloads the list is empty.
   */
  passed(namespace: string, labels: Readonly<Record<string, string>>): readonly ServerHost[] {
    const all = this.select(namespace, labels).flatMap(passedHosts);
    if (all.length === 0) return NONE;
    const byText = new Map(all.map((one) => [`${one.namespace}/${one.host}`, one]));
    const sorted = [...byText].sort(([a], [b]) => a < b ? -1 : 1);
    return this.#passed.of(sorted.map(([, one]) => one));
  }
}

const NONE: readonly ServerHost[] = Object.freeze([]);
