/**
 * Kinds that have no effect yet, or not all of theirs, named in the log when their objects come.
 *
 * @module
 */
import { writtenKey, writtenKind } from "../config/finding/origin.ts";
import { type Kind, KINDS } from "../config/kinds/kinds.ts";
import type { ConfigStore } from "../config/store.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { kindsNotBuilt, objectNotBuiltText } from "../kernel/not_built/catalogue.ts";

/** Logs kinds that have no effect, or not all of theirs, each when the first such object comes. */
export function kindsNotBuiltReported(store: ConfigStore, kernel: Kernel): () => void {
  const names = kindsNotBuilt();
  const inert = KINDS.filter((kind) => names.includes(kind));
  const reported = new Set<Kind>();
  return () => {
    for (const kind of inert) {
      const objects = store.list(kind).filter((object) => objectNotBuiltText(object) !== undefined);
      const [example] = objects;
      if (example === undefined) reported.delete(kind);
      else if (!reported.has(kind)) {
        reported.add(kind);
        const first = objects.slice(0, 10).map(writtenKey);
        kernel.log.scope("model").warn(objectNotBuiltText(example, writtenKind(example.origin, kind)) ?? "", {
          objects: first,
          count: objects.length,
        });
      }
    }
  };
}
