/**
 * Chooses the virtual host of a route configuration for a host.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { hostAlone } from "./http_request.ts";
import type { ProxyResources, VirtualHostStep } from "./types.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;

/** The chosen virtual host. */
export interface ChosenVirtualHost {
  readonly virtualHost: VirtualHost;
  readonly domain: string;
  readonly source: VirtualHostStep["source"];
}

interface VirtualHostCandidate extends ChosenVirtualHost {
  /** 3 exact, 2 `*suffix`, 1 `prefix*`, 0 `*`. */
  readonly kind: number;
}

/**
 * Chooses by the most specific domain: the whole host, then the longest `*suffix`, then the longest `prefix*`, then
 * `*`. Inline virtual hosts and virtual hosts sent as separate resources count the same.
 */
export function chooseVirtualHost(
  resources: ProxyResources,
  configuration: envoy.config.route.v3.RouteConfiguration,
  authority: string,
): ChosenVirtualHost | undefined {
  const host = (configuration.ignore_port_in_host_matching ? hostAlone(authority) : authority).toLowerCase();
  let best: VirtualHostCandidate | undefined;
  for (const { virtualHost, source } of virtualHosts(resources, configuration)) {
    for (const domain of virtualHost.domains ?? []) {
      const kind = fit(domain.toLowerCase(), host);
      if (kind === undefined) continue;
      const better = best === undefined || kind > best.kind ||
        kind === best.kind && domain.length > best.domain.length;
      if (better) best = { virtualHost, domain, source, kind };
    }
  }
  return best;
}

function* virtualHosts(
  resources: ProxyResources,
  configuration: envoy.config.route.v3.RouteConfiguration,
): IterableIterator<{ virtualHost: VirtualHost; source: VirtualHostStep["source"] }> {
  for (const virtualHost of configuration.virtual_hosts ?? []) yield { virtualHost, source: "route configuration" };
  if (!configuration.vhds) return;
  for (const name of resources.virtualHosts.keys()) {
    if (!name.startsWith(`${configuration.name}/`)) continue;
    const virtualHost = resources.virtualHosts.get(name);
    // As a separate resource, a virtual host has the resource's name.
    const short = name.slice(configuration.name!.length + 1);
    if (virtualHost) yield { virtualHost: { ...virtualHost, name: short }, source: "VHDS" };
  }
}

function fit(domain: string, host: string): number | undefined {
  if (domain === host) return 3;
  if (domain === "*") return 0;
  // The wildcard stands for at least one character.
  if (domain.startsWith("*")) return host.endsWith(domain.slice(1)) && host.length >= domain.length ? 2 : undefined;
  if (domain.endsWith("*")) return host.startsWith(domain.slice(0, -1)) && host.length >= domain.length ? 1 : undefined;
  return undefined;
}
