/**
 * Patches that proxies reject: the resources that they are withdrawn from, and the findings about them.
 *
 * @module
 */
import { type Finding, lossOf } from "../../config/finding/finding.ts";

/** A resource that a proxy rejects and gets without patches. */
export interface RejectedPatches {
  readonly typeUrl: string;
  readonly name: string;
  /** The version that is rejected; another one is tried with its patches. */
  readonly version: string;
  /** Keys of the ProxyFilters that changed it. */
  readonly filters: readonly string[];
  /** The proxy's words. */
  readonly message: string;
}

/** Keys of the ProxyFilters among the causes of a resource. */
export function patchingFilters(causes: readonly string[]): readonly string[] {
  return causes.filter((cause) => cause.startsWith("ProxyFilter/"));
}

/** Findings of rejections because of patches; one proxy stands for all with the same words. */
export function rejectionFindings(
  states: Iterable<{
    readonly proxy: { readonly nodeId: string };
    readonly rejectedPatches: ReadonlyMap<string, RejectedPatches>;
  }>,
): Finding[] {
  const found = new Map<string, { readonly one: RejectedPatches; readonly nodeId: string; count: number }>();
  for (const { proxy: { nodeId }, rejectedPatches } of states) {
    for (const one of rejectedPatches.values()) {
      const key = JSON.stringify([one.typeUrl, one.name, one.filters, one.message]);
      const known = found.get(key);
      if (known) known.count++;
      else found.set(key, { one, nodeId, count: 1 });
    }
  }
  return [...found.values()].map(({ one: { typeUrl, name, filters, message }, nodeId, count }) => {
    const type = typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
    const others = count === 1 ? "" : ` and ${count - 1} others`;
    const text = `${type} ${name} goes without patches to ${nodeId}${others}, which reject it with them: ${message}`;
    return lossOf("patch-rejected", filters, text);
  });
}
