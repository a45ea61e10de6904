/**
 * The services of extension providers: of authorizers and of collectors.
 *
 * @module
 */
import type { ProviderService } from "../../config/mesh/provider_types.ts";
import type { Reader } from "../reader/reader.ts";
import { outboundClusterName } from "./names.ts";

/** Where a provider is reached. */
export interface ProviderCluster {
  readonly hostname: string;
  readonly cluster: string;
}

/** Why it cannot be. */
export interface NoProviderCluster {
  /** Follows the provider's name. */
  readonly why: string;
}

/** The cluster of a provider's service, as the proxy sees it. */
export function providerCluster(
  read: Reader,
  { service: written, port }: ProviderService,
): ProviderCluster | NoProviderCluster {
  const slash = written.indexOf("/");
  const hostname = written.slice(slash + 1).toLowerCase();
  const service = read.service(hostname);
  const namespace = written.slice(0, Math.max(slash, 0));
  if (!service || slash >= 0 && service.namespace !== namespace) {
    return { why: `is of service ${written}, which the workload does not see` };
  }
  if (!service.ports.some((one) => one.port === port)) {
    return { why: `is of service ${written}, which has no port ${port}` };
  }
  return { hostname, cluster: outboundClusterName(port, "", hostname) };
}
