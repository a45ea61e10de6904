/**
 * Gateways named by VirtualServices, for the whole object and for single matches.
 *
 * @module
 */
import { severityOfAbsence } from "../reader/absence.ts";
import type { VirtualServiceSpec } from "../../config/kinds/kinds.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Analyzer } from "../analyzer.ts";
import { nearObject } from "./near_object.ts";

export const GATEWAY_REFERENCES: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["unknown-gateway"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    const seen = new Set<string>();
    for (const { name, field } of gatewaysOf(spec)) {
      const full = read.fullGateway(name, namespace);
      if (full === MESH_GATEWAY || seen.has(full)) continue;
      seen.add(full);
      const [of = "", gateway = ""] = full.split("/");
      if (read.object("Gateway", of, gateway) || read.isRefused("Gateway", of, gateway)) continue;
      const names = read.objectsIn("Gateway", of).map(({ meta }) => meta.name);
      const hint = nearObject({ namespace: of, name: gateway }, read.objects("Gateway").map(({ meta }) => meta));
      report(severityOfAbsence(read, of === namespace || names.length > 0), "unknown-gateway", {
        field,
        value: name,
        expected: `a Gateway that exists (${full} does not)${hint}`,
        effect: `Gateways answer 404 for ${(spec.hosts ?? []).join(", ") || "these hosts"}.`,
      });
    }
  },
};

/** A reference to a gateway, and its path. */
interface WrittenGateway {
  readonly name: string;
  readonly field: string;
}

/** The names of gateways, in the written order. */
export function gatewaysOf({ gateways, http, tls, tcp }: VirtualServiceSpec): readonly WrittenGateway[] {
  const found: WrittenGateway[] = [];
  gateways?.forEach((name, at) => found.push({ name, field: `spec.gateways[${at}]` }));
  if (http) addOfMatches(found, "http", http);
  if (tls) addOfMatches(found, "tls", tls);
  if (tcp) addOfMatches(found, "tcp", tcp);
  return found;
}

function addOfMatches(
  to: WrittenGateway[],
  protocol: string,
  rules: readonly { readonly match?: readonly { readonly gateways?: readonly string[] }[] }[],
): void {
  rules.forEach(({ match }, at) =>
    match?.forEach(({ gateways }, index) =>
      gateways?.forEach((name, place) =>
        to.push({ name, field: `spec.${protocol}[${at}].match[${index}].gateways[${place}]` })
      )
    )
  );
}
