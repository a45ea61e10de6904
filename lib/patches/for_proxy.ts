/**
 * The patches of ProxyFilters for a proxy.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { compileFilter } from "./compile.ts";
import type { CompiledPatch } from "./types.ts";

/** The facts about a proxy that patches may match. */
export interface PatchedProxy {
  /** The proxy's version. Empty: unknown. */
  readonly version: string;
  /** A value of the node metadata. */
  metadata(key: string): unknown;
  /** Keys of ProxyFilters that are excluded for the proxy. Absent: none. */
  readonly without?: ReadonlySet<string>;
}

/** The patches of ProxyFilters that apply to a proxy, in the order of the filters. */
export function patchesFor(filters: readonly ConfigObject<"ProxyFilter">[], proxy: PatchedProxy): CompiledPatch[] {
  const { without } = proxy;
  return filters.flatMap((filter) =>
    without?.has(filter.key) ? [] : compileFilter(filter).patches.filter((patch) => matchesProxy(patch, proxy))
  );
}

/** The expression may match anywhere in the version. A proxy without a version never matches. */
function matchesProxy({ version, metadata }: CompiledPatch, proxy: PatchedProxy): boolean {
  if (version !== undefined && (proxy.version === "" || !version.matcher(proxy.version).find())) return false;
  return metadata === undefined || Object.entries(metadata).every(([key, value]) => proxy.metadata(key) === value);
}
