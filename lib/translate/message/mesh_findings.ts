/**
 * The findings of the mesh's indexes, in words.
 *
 * @module
 */
import { type Finding, lossOf, warningOf } from "../../finding/finding.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import type { ProxyFilter } from "../../mesh/proxy_filter.ts";
import { compileFilter } from "../../patches/compile.ts";

/** The findings of the mesh's indexes: references that cannot be resolved, and subsets defined by several rules. */
export function* meshFindings(mesh: Mesh): Iterable<Finding> {
  for (const [key, problems] of mesh.problems) {
    for (const text of problems) yield lossOf("unresolved-reference", [key], `${key}: ${text}`);
  }
  for (const { host, subset, accepted, rejected } of mesh.destinationRules.duplicateSubsets()) {
    const text =
      `DestinationRules of ${host}: subset ${subset} of ${accepted} is in force, subset ${subset} of ${rejected} is left out`;
    yield lossOf("duplicate-subset", [rejected, accepted], text);
  }
  for (const filter of mesh.proxyFilters) yield* patchFindings(filter);
}

const PATCH_FINDING = {
  "refused": "patch-refused",
  "left out": "patch-partly",
  "beyond limits": "patch-beyond-limits",
} as const;

function* patchFindings(filter: ProxyFilter): Iterable<Finding> {
  for (const { index, what, text } of compileFilter(filter).problems) {
    const message = `spec.configPatches[${index}].patch.value: ${text}`;
    yield lossOf(PATCH_FINDING[what], [filter.key], message);
  }
}

/** More services want an automatic address than addresses exist. A single warning, without the names of services. */
export function addressRangeFindings(range: { readonly wanted: number; readonly available: number }): Finding[] {
  const { wanted, available } = range;
  if (wanted <= available) return [];
  const text =
    `${wanted} services want an automatic address, and only ${available} exist: the youngest services get none`;
  return [warningOf("too-few-addresses", [], text)];
}
