/**
 * The patches of some ProxyFilters that are for a proxy.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { compileFilter } from "./compile.ts";
import type { CompiledPatch } from "./types.ts";

/** The facts of a proxy that patches may ask for. */
export interface PatchedProxy {
  /** Its version; empty: unknown. */
  readonly version: string;
  /** A value of its node metadata. */
  metadata(key: string): unknown;
  /** Keys of ProxyFilters that it gets no patches of. Absent: none. */
  readonly without?: ReadonlySet<string>;
}

/** The patches of some filters that are for a proxy, in the order of the filters. */
export function patchesFor(filters: readonly ConfigObject<"ProxyFilter">[], proxy: PatchedProxy): CompiledPatch[] {
  const { without } = proxy;
  return filters.flatMap((filter) =>
    without?.has(filter.key) ? [] : compileFilter(filter).patches.filter((patch) => matchesProxy(patch, proxy))
  );
}

/** The expression may match anywhere in the version; a proxy that tells none matches none. */
function matchesProxy({ version, metadata }: CompiledPatch, proxy: PatchedProxy): boolean {
  if (version !== undefined && (proxy.version === "" || !version.matcher(proxy.version).find())) return false;
  return metadata === undefined || Object.entries(metadata).every(([key, value]) => proxy.metadata(key) === value);
}
