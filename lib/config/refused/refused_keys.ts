/**
 * Refused objects without a version in force.
 *
 * @module
 */
import { isFactKind } from "../facts/types.ts";
import { type Finding, findingObject } from "../../finding/finding.ts";
import { KINDS } from "../kinds/kinds.ts";
import type { ConfigStore } from "../store.ts";
import { objectKey } from "../types.ts";

/** Where refused objects are found. */
export interface RefusingConfiguration {
  findings(): Iterable<Finding>;
  readonly store: Pick<ConfigStore, "get">;
}

/** Keys of the refused objects without a version in force. */
export function refusedKeys(configuration: RefusingConfiguration): Set<string> {
  const keys = new Set<string>();
  for (const found of configuration.findings()) {
    if (found.severity !== "error") continue;
    const { kind, namespace, name } = findingObject(found);
    if (isFactKind(kind) && name !== "") keys.add(`${kind}/${namespace}/${name}`);
    const known = KINDS.find((one) => one === kind);
    if (known === undefined || name === "" || configuration.store.get(known, namespace, name)) continue;
    keys.add(objectKey(known, namespace, name));
  }
  return keys;
}

/**
 * Answers for single keys. The set is made once for all questions of one turn of the event loop, because a client may
 * ask many.
 */
export function refusedLookup(configuration: RefusingConfiguration): (key: string) => boolean {
  let keys: Set<string> | undefined;
  return (key) => {
    if (keys === undefined) {
      keys = refusedKeys(configuration);
      queueMicrotask(() => keys = undefined);
    }
    return keys.has(key);
  };
}
