/**
 * Gateway objects, and which of them a gateway workload serves.
 *
 * @module
 */
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

  /** @param ownNamespaceOnly `PILOT_SCOPE_GATEWAY_TO_NAMESPACE`: a workload serves only objects of its namespace. */
  constructor(ownNamespaceOnly: boolean) {
    this.ownNamespaceOnly = ownNamespaceOnly;
  }

  /** Replaces some by others. */
  update(removed: Iterable<Gateway>, added: Iterable<Gateway>): void {
    this.#selections.clear();
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
}
