/**
 * Patches of a list of filters: of a listener, of a chain, of an HTTP connection manager.
 *
 * @module
 */
import type { Any } from "../pb/codec.ts";
import { packedName } from "../pb/envoy_api.ts";
import { mergedAny } from "../pb/merge.ts";
import { attempted } from "./attempt.ts";
import { patchedList } from "./ordered.ts";
import type { CompiledPatch, ReportPatch } from "./types.ts";

/** A filter of any kind, with the properties that patches match. */
export interface AnyFilter {
  readonly name?: string;
  readonly typed_config?: Partial<Any>;
}

/**
 * Inserts, replacements and removals, in order.
 *
 * @param nameOf Name of the filter in the patch's match.
 */
export function patchFilterList<F extends AnyFilter>(
  filters: readonly F[],
  patches: readonly CompiledPatch[],
  nameOf: (patch: CompiledPatch) => string | undefined,
  report: ReportPatch,
): readonly F[] {
  let now = filters;
  for (const patch of patches) {
    const name = nameOf(patch);
    const sought = name === undefined ? {} : { matches: (filter: F) => (filter.name ?? "") === name };
    const before = now;
    now = patchedList(before, patch, sought);
    if (now !== before) report({ patch });
  }
  return now;
}

/** Merges into every filter that a patch matches. A patch without a filter name matches all filters. */
export function mergeFilters<F extends AnyFilter>(
  filters: readonly F[],
  patches: readonly CompiledPatch[],
  nameOf: (patch: CompiledPatch) => string | undefined,
  report: ReportPatch,
): readonly F[] {
  const merges = patches.filter(({ operation }) => operation === "MERGE");
  if (merges.length === 0) return filters;
  const now = filters.map((filter) =>
    merges.reduce((before, patch) => merged(before, patch, nameOf(patch), report), filter)
  );
  return now.every((filter, i) => filter === filters[i]) ? filters : now;
}

/** A filter with a configuration from elsewhere (ECDS) has no configuration to merge into. */
function merged<F extends AnyFilter>(
  filter: F,
  patch: CompiledPatch,
  name: string | undefined,
  report: ReportPatch,
): F {
  if (name !== undefined && name !== (filter.name ?? "")) return filter;
  const { typed_config: own } = filter;
  if (own === undefined) return filter;
  if (name === undefined && isOfOtherType(patch, filter)) {
    // A patch without a filter name applies only to filters of its own type.
    report({
      patch,
      error: `a message of type ${typeOf(patch.value)} does not merge into one of type ${typeOf(filter)}`,
    });
    return filter;
  }
  return attempted(patch, filter, report, (before) => {
    const { name: renamed, typed_config: other } = patch.value as AnyFilter;
    const config = other === undefined ? own : mergedAny(own as Any, other as Any);
    if (config === own && !renamed) return before;
    return { ...before, ...(renamed ? { name: renamed } : {}), typed_config: config };
  });
}

/** A patch without a configuration changes only the name. */
function isOfOtherType({ value, unusable }: CompiledPatch, filter: AnyFilter): boolean {
  return unusable === undefined && typeOf(value) !== "" && typeOf(value) !== typeOf(filter);
}

function typeOf({ typed_config: config }: AnyFilter): string {
  return packedName(config ?? {});
}
