/**
 * The resources of a proxy by type, as protojson.
 *
 * @module
 */
import { messageJson } from "../pb/json.ts";
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { tablesOfSets } from "../debug/resources.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { EncodedTables } from "../simulate/decoded.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import { CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, ROUTE, SECRET } from "../xds/protocol/types.ts";

/** Types by their short names, in the order of delivery to proxies. */
export const TYPE_URLS = {
  cds: CLUSTER,
  eds: ENDPOINTS,
  lds: LISTENER,
  rds: ROUTE,
  sds: SECRET,
  ecds: EXTENSION_CONFIG,
} as const;

/** Short name of a type of resources. */
export type ShortType = keyof typeof TYPE_URLS;

/** Plural words for the resources of a type. */
const TYPE_WORDS: Readonly<Record<ShortType, string>> = {
  cds: "clusters",
  eds: "endpoints",
  lds: "listeners",
  rds: "routes",
  sds: "secrets",
  ecds: "extensions",
};

/** All resources of a proxy for a type, by name. If two sets hold a name, the later set wins, as on the wire. */
function resourcesOfType(state: ProxyState, type: ShortType): EncodedResource[] {
  const resources = (state.resourceSets(TYPE_URLS[type]) ?? []).flatMap((set) => [...set]);
  return [...new Map(resources.map((one) => [one.name, one])).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** All resources of a proxy in the simulator's form, including separate virtual hosts. */
export function encodedTables(state: ProxyState): EncodedTables {
  return tablesOfSets(state);
}

/**
 * The resources of some types as protojson, under the plural names of the types. Nothing is redacted: texts hold file
 * names of secrets, never secrets, and an Envoy must find the files.
 */
export function resourcesJson(
  state: ProxyState,
  types: readonly ShortType[],
): Record<string, Record<string, unknown>[]> {
  return Object.fromEntries(types.map((type) => [
    TYPE_WORDS[type],
    resourcesOfType(state, type).map(({ typeUrl, value }) =>
      messageJson(typeUrl.slice(TYPE_URL_PREFIX.length), value, "shown")
    ),
  ]));
}
