/**
 * A proxy's requested resources: of route configurations and virtual hosts, only those of a listener.
 * @module
 */
import { Buffer } from "node:buffer";
import { TYPE_URL_PREFIX } from "../../lib/pb/codec.ts";
import { readable } from "../../lib/pb/reflect.ts";
import type { EncodedResource } from "../../lib/resource/encoded.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { resources } from "../discovery/fixture.ts";

/**
 * Versions by type and name.
 *
 * @param isLeading Only receiving and leading resources: clusters without a way to them do nothing.
 */
export function delivered(state: ProxyState, isLeading = false): Record<string, string> {
  const all = Object.entries(resources(state));
  const asked = new Set(all.flatMap(([name, one]) => name.startsWith("listener/") ? routesOf(one) : []));
  const isAsked = (name: string) => {
    const [type, route = ""] = name.split(/\/(.*)/);
    if (isLeading && (type === "cluster" || type === "assignment")) return false;
    if (type === "route") return asked.has(route);
    return type !== "virtualHost" || [...asked].some((one) => route.startsWith(`${one}/`));
  };
  return Object.fromEntries(all.filter(([name]) => isAsked(name)).map(([name, { version }]) => [name, version]));
}

const known = new WeakMap<EncodedResource, readonly string[]>();

function routesOf(listener: EncodedResource): readonly string[] {
  return known.getOrInsertComputed(listener, ({ typeUrl, value }) => {
    const text = JSON.stringify(readable(typeUrl.slice(TYPE_URL_PREFIX.length), value));
    return [...text.matchAll(/"route_config_name":"([^"]+)"/g)].map(([, name = ""]) => name);
  });
}

/** Whether a listener or an asked-for route of a proxy has a cluster of a `host:port`. */
export function leadsTo(state: ProxyState, target: string): boolean {
  const [host = "", port = ""] = target.split(/:(?=\d+$)/);
  const names = new Set(Object.keys(delivered(state, true)));
  return Object.entries(resources(state)).some(([name, { value }]) =>
    names.has(name) && Buffer.from(value).includes(`outbound|${port}||${host}`)
  );
}
