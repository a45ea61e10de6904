/**
 * Patched resources that proxies reject, the substitutes, and the findings.
 *
 * @module
 */
import { type Finding, lossOf } from "../../finding/finding.ts";

/**
 * The substitute for a rejected resource: the last accepted version, the present version without some ProxyFilters, a
 * closed resource, or nothing. `undecided`: not known yet.
 */
export type StandInKind = "earlier" | "without" | "closed" | "nothing" | "undecided";

/** A resource that a proxy rejects. */
export interface RejectedPatches {
  readonly typeUrl: string;
  readonly name: string;
  /** The rejected version. */
  readonly version: string;
  /** Keys of the ProxyFilters that changed the resource, or that the substitute omits. */
  readonly filters: readonly string[];
  /** The proxy's words. */
  readonly message: string;
  readonly standIn: StandInKind;
}

/** Keys of the ProxyFilters among the causes of a resource. */
export function patchingFilters(causes: readonly string[]): readonly string[] {
  return causes.filter((cause) => cause.startsWith("ProxyFilter/"));
}

/** The effect of a substitute, in a text such as `Listener 0.0.0.0_80 ...`. The proxies and their words follow. */
const SAYS: { readonly [K in StandInKind]: string } = {
  earlier: "keeps its last accepted version at",
  without: "is sent without these patches to",
  closed: "is closed, because these patches may refuse requests, at",
  nothing: "is not in force as written at",
  undecided: "is tried without these patches at",
};

/**
 * Findings about rejections because of patches. One resource and one proxy represent all rejections with the same
 * words.
 */
export function rejectionFindings(
  states: Iterable<{
    readonly proxy: { readonly nodeId: string };
    readonly rejectedPatches: ReadonlyMap<string, RejectedPatches>;
  }>,
): Finding[] {
  const found = new Map<string, AlikeRejections>();
  for (const { proxy: { nodeId }, rejectedPatches } of states) {
    for (const one of rejectedPatches.values()) {
      const key = JSON.stringify([one.typeUrl, one.filters, one.message, one.standIn]);
      let alike = found.get(key);
      if (alike === undefined) found.set(key, alike = { one, nodeId, names: new Set(), proxies: new Set() });
      alike.names.add(one.name);
      alike.proxies.add(nodeId);
    }
  }
  return [...found.values()].map(({ one: { typeUrl, name, filters, message, standIn }, nodeId, names, proxies }) => {
    const type = typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
    const more = names.size === 1 ? "" : ` (and ${names.size - 1} more)`;
    const others = proxies.size === 1 ? "" : ` and ${proxies.size - 1} others`;
    const text = `${type} ${name}${more} ${
      SAYS[standIn]
    } ${nodeId}${others}, which reject the patched resource: ${message}`;
    return lossOf("patch-rejected", filters, text);
  });
}

interface AlikeRejections {
  readonly one: RejectedPatches;
  readonly nodeId: string;
  readonly names: Set<string>;
  readonly proxies: Set<string>;
}
