/**
 * Listeners of contributions, in a proxy's form.
 *
 * @module
 */
import type { ListenerContribution } from "../../../lib/translate/listener/contribution.ts";
import { mergeOutboundListener } from "../../../lib/translate/listener/outbound/merge.ts";
import type { Reader } from "../../../lib/translate/reader/reader.ts";

/** Merges contributions key by key, in the order of keys. */
export function mergeAll(read: Reader, contributions: readonly ListenerContribution[]) {
  const keys = [...new Set(contributions.map((contribution) => contribution.key))].sort();
  const merged = keys.map((key) =>
    mergeOutboundListener(read, key, contributions.filter((contribution) => contribution.key === key))
  );
  return {
    listeners: merged.flatMap(({ listener, causes }) => listener ? [{ message: listener, causes }] : []),
    conflicts: merged.flatMap(({ conflicts }) => conflicts),
  };
}
