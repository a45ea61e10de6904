/**
 * Gateway objects, and which of them a gateway workload serves.
 *
 * @module
 */
import { passedHosts, type ServerHost } from "../config/kinds/gateway/hosts.ts";
import { gatewaySelects } from "../config/kinds/gateway/workloads.ts";
import type { ConfigObject } from "../config/types.ts";

type Gateway = ConfigObject<"Gateway">;

/** All Gateway objects of the mesh. */
export class GatewayIndex {
  #all: readonly Gateway[] = [];
  /** Whether a workload serves only objects of its namespace. */
  readonly ownNamespaceOnly: boolean;
  /** Equal selections are one array. */
  #selections = new Map<string, readonly Gateway[]>();
  /** By content, those of selections since the last change; before it, those that were asked for then. */
  #passed = new Map<string, readonly ServerHost[]>();
  #passedBefore: ReadonlyMap<string, readonly ServerHost[]> = new Map();

  /** @param ownNamespaceOnly `PILOT_SCOPE_GATEWAY_TO_NAMESPACE`: a workload serves only objects of its namespace. */
  constructor(ownNamespaceOnly: boolean) {
    this.ownNamespaceOnly = ownNamespaceOnly;
  }

  /** Replaces some by others. */
  update(removed: Iterable<Gateway>, added: Iterable<Gateway>): void {
    this.#selections.clear();
    this.#passedBefore = this.#passed;
    this.#passed = new Map();
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
    const selected = this.#all.filter((gateway) => {
      if (this.ownNamespaceOnly && gateway.meta.namespace !== namespace) return false;
      return gatewaySelects(gateway, labels);
    });
    const key = selected.map((gateway) => gateway.key).join();
    const known = this.#selections.get(key) ?? selected;
    this.#selections.set(key, known);
    return known;
  }
  /**
   * The hosts whose connections a workload passes on by the name that clients ask for; an equal list is the same array,
   * also after a change. Of nearly all workloads it is empty.
   */
  passed(namespace: string, labels: Readonly<Record<string, string>>): readonly ServerHost[] {
    const all = this.select(namespace, labels).flatMap(passedHosts);
    if (all.length === 0) return NONE;
    const byText = new Map(all.map((one) => [`${one.namespace}/${one.host}`, one]));
    const key = [...byText.keys()].sort().join();
    const known = this.#passed.get(key) ?? this.#passedBefore.get(key) ?? [...byText.values()];
    this.#passed.set(key, known);
    return known;
  }
}

const NONE: readonly ServerHost[] = Object.freeze([]);
