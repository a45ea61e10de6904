/**
 * The service of an extension provider, for builders and judges.
 *
 * @module
 */
import type { ProviderService } from "../config/mesh/provider_schema.ts";
import type { Service } from "../registry/types.ts";
import { isNamed } from "./dialled_server.ts";

/** Why a service without servers of its own cannot be a provider: a client would choose the judge of its requests. */
export const BY_TRAFFIC = "whose server is what the traffic of clients names or dials";

/** The parts of `namespace/host`; the namespace is undefined where none is written. */
export function writtenService(
  { service }: ProviderService,
): { readonly hostname: string; readonly namespace?: string } {
  const slash = service.indexOf("/");
  const hostname = service.slice(slash + 1).toLowerCase();
  return slash < 0 ? { hostname } : { hostname, namespace: service.slice(0, slash) };
}

/**
 * The problem of a provider's service, beginning with the service as written. Undefined: no problem.
 *
 * @param found The service behind the name, as visible to the workloads.
 */
export function providerServiceProblem(provider: ProviderService, found: Service | undefined): string | undefined {
  const { service: written, port } = provider;
  const { namespace } = writtenService(provider);
  if (found === undefined || namespace !== undefined && found.namespace !== namespace) {
    return `${written}, which the workload does not see`;
  }
  if (!found.ports.some((one) => one.port === port)) return `${written}, which has no port ${port}`;
  return isNamed(found, port) ? `${written}, ${BY_TRAFFIC}` : undefined;
}
