/**
 * The labels of namespaces, for services whose namespace asks for a waypoint.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Labels } from "../../registry/labels.ts";

/** Reports the labels of all namespaces, and each change. Unchanged labels stay the same object. */
export function followNamespaces(
  facts: Pick<FactStore, "list" | "subscribe">,
  pipeline: { namespacesChanged(all: ReadonlyMap<string, Labels>): void },
): void {
  let known: ReadonlyMap<string, Labels> = new Map();
  const look = () => {
    const all = new Map(facts.list("Namespace").map(({ meta }) => [meta.name, meta.labels]));
    for (const [name, labels] of all) {
      const before = known.get(name);
      if (before !== undefined && JSON.stringify(before) === JSON.stringify(labels)) all.set(name, before);
    }
    const isSame = all.size === known.size && [...all].every(([name, labels]) => known.get(name) === labels);
    known = all;
    if (!isSame) pipeline.namespacesChanged(all);
  };
  look();
  facts.subscribe(({ added, updated, removed }) => {
    const isOfNamespaces = [...added, ...removed, ...updated.map((one) => one.new)].some(({ kind }) =>
      kind === "Namespace"
    );
    if (isOfNamespaces) look();
  });
}
