/**
 * The names of the server's own certificate. Agents dial the server by these names.
 *
 * @module
 */
import { commaList } from "../kernel/text/comma_list.ts";

/** Inputs of the names. */
export interface ServerNameOptions {
  /** Namespace of the server. */
  readonly namespace: string;
  /** `REVISION`; `default` and an empty revision add no name. */
  readonly revision: string;
  /** `MESHD_CUSTOM_HOST`: further names, comma separated. */
  readonly customHosts: string;
  /** The server's address in the mesh configuration (`discoveryAddress`), `host:port`; empty: no address. */
  readonly discoveryAddress: string;
}

/** Names of the server's service in this project and in Istio. */
const SERVICES = ["meshd", "istiod", "meshd-remote", "istiod-remote", "istio-pilot"] as const;
/** The name that Istio's agents expect by default. */
const ISTIO_DEFAULT = "istiod.istio-system.svc";

/** DNS names, each once. */
export function serverNames({ namespace, revision, customHosts, discoveryAddress }: ServerNameOptions): string[] {
  const revised = revision === "" || revision === "default" ? [] : [`meshd-${revision}`, `istiod-${revision}`];
  const custom = commaList(customHosts);
  const discovery = /^([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):\d+$/.exec(discoveryAddress)?.[1] ?? "";
  const isName = discovery !== "" && !/^[\d.]+$/.test(discovery);
  const names = [...SERVICES, ...revised].map((service) => `${service}.${namespace}.svc`);
  return [...new Set([...custom, ...(isName ? [discovery] : []), ...names, ISTIO_DEFAULT])];
}
