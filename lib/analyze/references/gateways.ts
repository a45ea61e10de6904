/**
 * Gateways named by VirtualServices, for the whole object and for single matches.
 *
 * @module
 */
import { severityOfAbsence } from "../reader/absence.ts";
import type { VirtualServiceSpec } from "../../config/kinds/kinds.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { nearObject } from "./near_object.ts";

export const GATEWAY_REFERENCES: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["unknown-gateway"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    for (const { name, field, full } of namedGateways(spec, namespace, read)) {
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

/** A named gateway with its whole name, `namespace/name`. */
interface ReferredGateway extends WrittenGateway {
  readonly full: string;
}

/** The named gateways, each once, without the gateway of the mesh. */
export function* namedGateways(
  spec: VirtualServiceSpec,
  namespace: string,
  read: Pick<AnalysisReader, "fullGateway">,
): Iterable<ReferredGateway> {
  const seen = new Set([MESH_GATEWAY]);
  for (const written of gatewaysOf(spec)) {
    const full = read.fullGateway(written.name, namespace);
    if (seen.has(full)) continue;
    seen.add(full);
    yield { ...written, full };
  }
}

/** The names of gateways, in the written order. */
function gatewaysOf({ gateways, http, tls, tcp }: VirtualServiceSpec): readonly WrittenGateway[] {
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
