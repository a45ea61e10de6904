/**
 * Parts that every Envoy rejects, in place of patches that may refuse requests and cannot be used. The rejected resource
 * is then handled like any other: a proxy keeps its last version, and one that has none gets a closed resource. Leaving the
 * patch out instead would let in what it was to keep out.
 *
 *     guard that cannot be read ──> a part that names it ──> Envoy rejects the resource ──> last version, or closed
 *
 * @module
 */
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { type ApiMessage, encodeApi } from "../pb/envoy_api.ts";
import type { CompiledPatch, PatchTarget } from "./types.ts";

type PatchId = Pick<CompiledPatch, "filter" | "index">;

/** A message that no filter and no extension has as its configuration. It carries words. */
const STATUS = "google.rpc.Status";

/** The words by which Envoy's rejection names a patch. */
export function unusableWords({ filter, index }: PatchId): string {
  return `${filter} spec.configPatches[${index}], which cannot be used`;
}

/**
 * The value of a patch that every Envoy rejects.
 *
 * @param written The value that cannot be used: a whole resource has its name from it.
 * @returns Undefined: there is no name, so no proxy has or asks for such a resource
 */
export function unusableValue(
  patch: Pick<CompiledPatch, "filter" | "index" | "applyTo" | "operation">,
  written: unknown,
): ApiMessage | undefined {
  const { applyTo, operation } = patch;
  const words = unusableWords(patch);
  const part = rejectedPart(applyTo, words);
  if (operation === "MERGE") return part;
  if (CALLED_BY_NAME.has(applyTo)) {
    const { name } = Object(written) as { readonly name?: unknown };
    return typeof name === "string" && name !== "" ? { ...part, name } : undefined;
  }
  if (applyTo === "VIRTUAL_HOST") return { ...part, name: words, domains: [domainOf(patch)] };
  if (applyTo === "HTTP_ROUTE") return { ...part, match: { prefix: "/" }, direct_response: { status: 503 } };
  return part;
}

/** Targets that a proxy has one of for each name: an earlier version of that name stays. */
const CALLED_BY_NAME: ReadonlySet<PatchTarget> = new Set(["LISTENER", "CLUSTER", "EXTENSION_CONFIG"]);

/** What a patch was to change, so that every Envoy rejects it. Never throws. */
export function spoiled<T extends object>(patch: CompiledPatch, before: T): T {
  const part = rejectedPart(patch.applyTo, unusableWords(patch));
  if (FILTERS.has(patch.applyTo)) return { ...before, ...part };
  const joined = Object.entries(part).map(([field, more]) => {
    const own = (before as ApiMessage)[field];
    // In front: Envoy names the first mistake that it finds.
    return [
      field,
      Array.isArray(more) ? [...more, ...(own as unknown[] | undefined ?? [])] : { ...Object(own), ...Object(more) },
    ];
  });
  return { ...before, ...Object.fromEntries(joined) };
}

const FILTERS: ReadonlySet<PatchTarget> = new Set(["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER"]);

/** Fields of a target that Envoy rejects with these words. */
function rejectedPart(applyTo: PatchTarget, words: string): ApiMessage {
  const any = { type_url: TYPE_URL_PREFIX + STATUS, value: encodeApi(STATUS, { message: words }) };
  const filter = { name: words, typed_config: any };
  switch (applyTo) {
    case "LISTENER_FILTER":
    case "NETWORK_FILTER":
    case "HTTP_FILTER":
    case "EXTENSION_CONFIG":
      return filter;
    case "LISTENER":
      return { listener_filters: [filter] };
    case "FILTER_CHAIN":
      return { filters: [filter] };
    case "CLUSTER":
      return { typed_extension_protocol_options: { [words]: any } };
    case "ROUTE_CONFIGURATION":
    case "VIRTUAL_HOST":
    case "HTTP_ROUTE":
      return { typed_per_filter_config: { [words]: any } };
  }
}

/** A domain that nobody has: a virtual host without one that is free is not added. */
function domainOf({ filter, index }: PatchId): string {
  const [, namespace, name] = filter.split("/");
  return `patch-${index}.${name}.${namespace}.invalid`;
}
