/**
 * The hosts whose clusters a gateway needs, if the setting `PILOT_FILTER_GATEWAY_CLUSTER_CONFIG` removes all others.
 *
 * @module
 */
import { PROVIDER_TYPES } from "../../config/mesh/provider_schema.ts";
import type { JwtRule } from "../../config/kinds/request_authentication/schema.ts";
import type { ExtensionProvider } from "../../config/mesh/types.ts";
import { destinationHosts } from "../../mesh/virtual_service_index.ts";
import { keyHost } from "../filters/http/jwt_authn/provider.ts";
import { PATCH_PARTS } from "../reader/patch_selection.ts";
import type { Reader } from "../reader/reader.ts";
import { serviceBehind } from "../route/destination.ts";
import { visibleVirtualServices } from "./virtual_services.ts";

/**
 * Destination hosts of the virtual services of the gateway's Gateway objects; hosts of the mesh's extension providers
 * (authorizers, collectors), because any object may name a provider; hosts from which the proxy fetches the keys of
 * token issuers; and hosts listed in ProxyFilters. A host need not be a service.
 */
export function gatewayHosts(read: Reader): Set<string> {
  const hosts = settingsHosts(read);
  for (const { meta } of read.gateways()) {
    for (const vs of visibleVirtualServices(read, `${meta.namespace}/${meta.name}`)) {
      // An alias uses the cluster of its target service.
      for (const host of destinationHosts(vs)) hosts.add(serviceBehind(read, host).host);
    }
  }
  return hosts;
}

/**
 * The hosts that a proxy of any kind needs by settings of the mesh, by ProxyFilters and for the keys of issuers.
 *
 * @param rules The token rules in force. Default: of all policies of the workload.
 */
export function settingsHosts(read: Reader, rules: readonly JwtRule[] = read.allTokenPolicies().rules): Set<string> {
  const hosts = new Set<string>();
  for (const provider of read.mesh().extensionProviders) {
    const service = providerService(provider);
    if (service) hosts.add(service.slice(service.indexOf("/") + 1).toLowerCase());
  }
  for (const part of PATCH_PARTS) {
    for (const { services } of read.patches(part)) for (const host of services) hosts.add(host);
  }
  if (read.settings.tokenKeysFetchedBy !== "server") {
    for (const { jwks, jwksUri } of rules) {
      if (jwks === undefined && jwksUri !== undefined) hosts.add(keyHost(jwksUri).host);
    }
  }
  return hosts;
}

/** The host of a provider, `[namespace/]host`. */
function providerService(provider: ExtensionProvider): string | undefined {
  for (const type of PROVIDER_TYPES) {
    const settings = provider[type];
    if (settings !== undefined && "service" in settings) return settings.service;
  }
  return undefined;
}
