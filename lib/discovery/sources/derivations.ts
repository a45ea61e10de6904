/**
 * The derivations of a server: objects of the Gateway API, and Ingresses from the source of services: the orchestrator's
 * API (`--registries=Orch`), or manifests in folders (`--registries=File`).
 *
 * @module
 */
import type { Derivation } from "../../config/derive/derivation.ts";
import { ingressDerivation } from "../../ingress/derivation.ts";
import type { VerdictListener } from "../../gateway_api/groups/derivation.ts";
import { factServices, type ServiceFacts } from "./fact_registry.ts";
import { gatewayApiDerivations, type GatewayApiSettings } from "../../gateway_api/groups/options.ts";
import type { DiscoverySettings } from "../settings/settings.ts";

/** The inputs of the derivations of a server. */
interface DerivationParts extends ServiceFacts {
  /** DNS suffix of services. */
  readonly domain: string;
  /** Further derivations with a higher precedence. Default: none. */
  readonly derivations?: readonly Derivation[];
  /** See `GatewayApiSource`. */
  readonly learned?: VerdictListener;
}

/** All derivations of a server, in order of precedence. Ingresses are served when facts become services. */
export function serverDerivations(
  { domain, derivations = [], learned, ...services }: DerivationParts,
  settings: Pick<DiscoverySettings, "ORCH_INGRESS_NS"> & GatewayApiSettings,
): Derivation[] {
  const from = factServices(services);
  const gatewayApi = gatewayApiDerivations({ domain, isFolder: from !== "api", learned }, settings);
  if (from === undefined) return [...derivations, ...gatewayApi];
  return [...derivations, ...gatewayApi, ingressDerivation({ namespace: settings.ORCH_INGRESS_NS, domain, from })];
}
