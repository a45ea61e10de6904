/**
 * The names of the server's own certificate: those under which agents dial it.
 *
 * @module
 */
import { commaList } from "../kernel/text/comma_list.ts";

/** Inputs of the names. */
export interface ServerNameOptions {
  /** Namespace of the server. */
  readonly namespace: string;
  /** `REVISION`; `default` and none have no name of their own. */
  readonly revision: string;
  /** `MESHD_CUSTOM_HOST`: further names, comma separated. */
  readonly customHosts: string;
  /** Where agents of this mesh look for it (`discoveryAddress` of the mesh configuration), `host:port`; empty: not said. */
  readonly discoveryAddress: string;
}

/** Services by which this project and Istio name the server. */
const SERVICES = ["meshd", "istiod", "meshd-remote", "istiod-remote", "istio-pilot"] as const;
/** The name that agents of Istio expect unless a setting names another. */
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
