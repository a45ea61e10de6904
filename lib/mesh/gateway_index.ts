/**
 * Gateway objects, and which of them a gateway workload serves.
 *
 * @module
 */
import { passedHosts, type ServerHost } from "../config/kinds/gateway/hosts.ts";
import { gatewaySelects } from "../config/kinds/gateway/workloads.ts";
import type { ConfigObject } from "../config/types.ts";
import { SharedLists } from "./selection/shared_lists.ts";
import { SharedValues } from "./selection/shared_values.ts";

type Gateway = ConfigObject<"Gateway">;

/** All Gateway objects of the mesh. */
export class GatewayIndex {
  #all: readonly Gateway[] = [];
  /** Whether a workload serves only objects of its namespace. */
  readonly ownNamespaceOnly: boolean;
  /** Both hold their lists weakly: clients choose the labels, and so which lists there are. */
  readonly #selections = new SharedLists<Gateway>();
  readonly #passed = new SharedValues<readonly ServerHost[]>();

  /** @param ownNamespaceOnly `PILOT_SCOPE_GATEWAY_TO_NAMESPACE`: a workload serves only objects of its namespace. */
  constructor(ownNamespaceOnly: boolean) {
    this.ownNamespaceOnly = ownNamespaceOnly;
  }

  /** Replaces some by others. */
  update(removed: Iterable<Gateway>, added: Iterable<Gateway>): void {
    const out = new Set<string>();
    const put = [...added];
    for (const gateway of removed) out.add(gateway.key);
    for (const gateway of put) out.add(gateway.key);
    this.#all = [...this.#all.filter((g) => !out.has(g.key)), ...put].sort((a, b) =>
      a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : 1)
    );
  }

  /** Those that select a workload by its labels (no selector selects all), oldest first; an equal list is the same array. */
  select(namespace: string, labels: Readonly<Record<string, string>>): readonly Gateway[] {
    return this.#selections.of(this.#all.filter((gateway) => {
      if (this.ownNamespaceOnly && gateway.meta.namespace !== namespace) return false;
      return gatewaySelects(gateway, labels);
    }));
  }

  /**
   * The hosts whose connections a workload passes on by the name that clients ask for; an equal list is the same array,
   * also after a change. Of nearly all workloads it is empty.
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
