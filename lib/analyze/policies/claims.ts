/**
 * Rules of gateways about claims of tokens, although nothing at the gateway verifies tokens.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import { severityOfAbsence } from "../reader/absence.ts";
import { apiGatewayBehind } from "../../config/derive/made_of_gateway_api.ts";
import type { VirtualServiceSpec } from "../../config/kinds/kinds.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { selectionOf } from "../../mesh/selection/selection.ts";
import { joinPath } from "../../config/schema/field.ts";

export const UNVERIFIED_CLAIMS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["claims-without-authentication"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    const claim = firstClaim(spec);
    if (claim === undefined) return;
    for (const written of spec.gateways ?? []) {
      const full = read.fullGateway(written, namespace);
      if (full === MESH_GATEWAY) continue;
      const [of = "", name = ""] = full.split("/");
      const gateway = read.object("Gateway", of, name);
      if (gateway === undefined || isVerified(gateway, read)) continue;
      report(severityOfAbsence(read), "claims-without-authentication", {
        field: claim.field,
        value: claim.name,
        expected: `a RequestAuthentication for the workloads of Gateway ${full}`,
        others: [gateway.key],
      });
      return;
    }
  },
};

/** The first condition on a claim. */
function firstClaim({ http = [] }: VirtualServiceSpec): { readonly name: string; readonly field: string } | undefined {
  for (const [at, { match = [] }] of http.entries()) {
    for (const [index, one] of match.entries()) {
      for (const part of ["headers", "withoutHeaders"] as const) {
        const name = Object.keys(one[part] ?? {}).find((key) => /^@request\.auth\.claims[.[]/i.test(key));
        if (name !== undefined) return { name, field: joinPath(`spec.http[${at}].match[${index}].${part}`, name) };
      }
    }
  }
  return undefined;
}

/** Whether tokens are verified at a gateway, as far as its workloads are known. Unknown workloads may be anywhere. */
function isVerified(gateway: ConfigObject<"Gateway">, read: AnalysisReader): boolean {
  const { rootNamespace } = read.meshConfig;
  const known = read.gatewaysServeOwnNamespace ? [gateway.meta.namespace] : read.namespaceNames();
  const workloads = known.flatMap((namespace) => read.gatewayWorkloads(gateway, namespace));
  if (workloads.length === 0) {
    return read.objects("RequestAuthentication").some((policy) => verifies(policy) && mayBeFor(policy, gateway, read));
  }
  const ofMesh = read.objectsIn("RequestAuthentication", rootNamespace);
  return workloads.every(({ kind, meta: { namespace }, spec: { labels } }) =>
    // A known workload stands for its pods.
    kind === "ReplicaSet" ||
    [...ofMesh, ...read.objectsIn("RequestAuthentication", namespace)].some((policy) =>
      verifies(policy) && isFor(policy, gateway, labels)
    )
  );
}

function verifies({ spec: { jwtRules } }: ConfigObject<"RequestAuthentication">): boolean {
  return (jwtRules?.length ?? 0) > 0;
}

/** Whether a policy may be for unknown workloads of a gateway: the labels of both do not exclude each other. */
function mayBeFor(
  policy: ConfigObject<"RequestAuthentication">,
  gateway: ConfigObject<"Gateway">,
  read: AnalysisReader,
): boolean {
  const { namespace } = policy.meta;
  const isElsewhere = namespace !== gateway.meta.namespace && namespace !== read.meshConfig.rootNamespace;
  if (read.gatewaysServeOwnNamespace && isElsewhere) return false;
  const wanted = selectionOf(policy).labels;
  return isFor(policy, gateway, { ...wanted, ...gateway.spec.selector });
}

function isFor(
  { meta, spec: { selector, targetRef, targetRefs = [] } }: ConfigObject<"RequestAuthentication">,
  gateway: ConfigObject<"Gateway">,
  labels: StringMap,
): boolean {
  const targets = targetRef === undefined ? targetRefs : [targetRef];
  if (targets.length > 0) {
    const named = apiGatewayBehind(gateway)?.name;
    return meta.namespace === gateway.meta.namespace && targets.some(({ name }) => name === named);
  }
  return carriesLabels(labels, selector?.matchLabels ?? {});
}
