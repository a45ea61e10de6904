/**
 * The services of extension providers: of authorizers and of collectors.
 *
 * @module
 */
import type { ProviderService } from "../../config/mesh/provider_schema.ts";
import { BY_TRAFFIC, providerServiceProblem, writtenService } from "../../mesh/provider_service.ts";
import { namedService } from "../../mesh/named_service.ts";
import type { Reader } from "../reader/reader.ts";
import { clusterName } from "./cluster_name.ts";
import { destinationOf } from "./plan.ts";

/** Where a provider is reached. */
export interface ProviderCluster {
  readonly hostname: string;
  readonly cluster: string;
}

/** Why a provider cannot be reached. */
export interface NoProviderCluster {
  /** Follows the provider's name. */
  readonly why: string;
}

/**
 * The cluster of a provider's service, as the proxy sees the service: by name, behind an alias, or covered by a
 * wildcard.
 */
export function providerCluster(
  read: Reader,
  provider: ProviderService,
): ProviderCluster | NoProviderCluster {
  const { hostname } = writtenService(provider);
  const { name, host, service } = namedService(hostname, (one) => read.service(one));
  const problem = providerServiceProblem(provider, service);
  if (problem !== undefined) return { why: `is of service ${problem}` };
  // The service's own load balancer, too, may send to the dialled address.
  const found = destinationOf(read, host, provider.port, "");
  if (found?.discovery === "originalDst") return { why: `is of service ${provider.service}, ${BY_TRAFFIC}` };
  return { hostname: name, cluster: clusterName(read, { host, port: provider.port, subset: "", service }) };
}
