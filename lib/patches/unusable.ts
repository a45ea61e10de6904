/**
 * Parts that every Envoy rejects, in place of unusable patches that may refuse requests. The rejected resource is
 * handled like any other: a proxy keeps its last version, or gets a closed resource. Omitting the patch would admit the
 * requests that the patch should refuse.
 *
 *     guard that cannot be read ──> a part that names it ──> Envoy rejects the resource ──> last version, or closed
 *
 * @module
 */
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { type ApiMessage, encodeApi } from "../pb/envoy_api.ts";
import type { CompiledPatch, PatchTarget } from "./types.ts";

type PatchId = Pick<CompiledPatch, "filter" | "index">;

/** A message that is not the configuration of any filter or extension, with text inside. */
const STATUS = "google.rpc.Status";

/** The text with which Envoy's rejection identifies a patch. */
export function unusableWords({ filter, index }: PatchId): string {
  return `${filter} spec.configPatches[${index}], which cannot be used`;
}

/**
 * The value of a patch that every Envoy rejects.
 *
 * @param written The unusable value, from which a whole resource takes its name.
 * @returns Undefined for a value without a name: no proxy has or requests such a resource.
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

/** Targets with one resource per name: an earlier version of the name stays. */
const CALLED_BY_NAME: ReadonlySet<PatchTarget> = new Set(["LISTENER", "CLUSTER", "EXTENSION_CONFIG"]);

/** The target of a patch, changed so that every Envoy rejects the target. Never throws. */
export function spoiled<T extends object>(patch: CompiledPatch, before: T): T {
  const part = rejectedPart(patch.applyTo, unusableWords(patch));
  if (FILTERS.has(patch.applyTo)) return { ...before, ...part };
  const joined = Object.entries(part).map(([field, more]) => {
    const own = (before as ApiMessage)[field];
    // First in the list: Envoy reports the first mistake.
    return [
      field,
      Array.isArray(more) ? [...more, ...(own as unknown[] | undefined ?? [])] : { ...Object(own), ...Object(more) },
    ];
  });
  return { ...before, ...Object.fromEntries(joined) };
}

const FILTERS: ReadonlySet<PatchTarget> = new Set(["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER"]);

/** Fields of a target that Envoy rejects with the words. */
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

/** An unowned domain: a virtual host without a free domain would not be added. */
function domainOf({ filter, index }: PatchId): string {
  const [, namespace, name] = filter.split("/");
  return `patch-${index}.${name}.${namespace}.invalid`;
}
