/**
 * Ingresses from the source of services: the orchestrator's API (`--registries=Orch`), or manifests in folders
 * (`--registries=File`).
 *
 * @module
 */
import type { Derivation } from "../../config/derive/derivation.ts";
import { ingressDerivation } from "../../ingress/derivation.ts";
import { factServices, type ServiceFacts } from "./fact_registry.ts";
import type { DiscoverySettings } from "../settings/settings.ts";

/** The inputs of the derivations of a server. */
interface DerivationParts extends ServiceFacts {
  /** DNS suffix of services. */
  readonly domain: string;
  /** Further derivations with a higher precedence. Default: none. */
  readonly derivations?: readonly Derivation[];
}

/** All derivations of a server, in order of precedence. Ingresses are served when facts become services. */
export function serverDerivations(
  { domain, derivations = [], ...services }: DerivationParts,
  settings: Pick<DiscoverySettings, "ORCH_INGRESS_NS">,
): Derivation[] {
  const from = factServices(services);
  if (from === undefined) return [...derivations];
  return [...derivations, ingressDerivation({ namespace: settings.ORCH_INGRESS_NS, domain, from })];
}
