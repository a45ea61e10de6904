/**
 * TLS to backends: BackendTLSPolicies become a derived DestinationRule of each target's host.
 *
 * The mesh adds such a DestinationRule to the rule that is in force for the host (`lib/mesh/destination_rule_index.ts`).
 * As an ordinary rule of the host it would be hidden by a rule of a user, and connections would be in plain text.
 *
 * A policy for a port has precedence over a policy for the whole service. Of several policies for the same port the oldest
 * is in force. If no authority of a policy can be used, the policy closes the backend.
 *
 * @module
 */
import type { Derivation, DerivationInput, DerivationReader, DerivedObject } from "../../config/derive/derivation.ts";
import type { BackendTls } from "../../config/kinds/destination_rule/internal.ts";
import type { ConfigObject } from "../../config/types.ts";
import { byPrecedence } from "../attach/precedence.ts";
import type { AttachOptions } from "../attach/types.ts";
import { backendTlsObjectName } from "./names.ts";
import { verifiedTls } from "./verified_tls.ts";
import { groupOf, type TargetHost, targetOf } from "./policy_groups.ts";

/** A policy object. */
type BackendTlsPolicy = ConfigObject<"BackendTLSPolicy">;

/** The derivation of all BackendTLSPolicies. */
export function backendTlsDerivation(options: AttachOptions): Derivation {
  return {
    name: "backend-tls",
    from: ["BackendTLSPolicy"],
    derive: () => [],
    shared: {
      groupsOf: (input) => isPolicy(input) ? input.spec.targetRefs.flatMap((ref) => groupOf(input, ref) ?? []) : [],
      derive: (group, members, read) => {
        const policies = members.filter(isPolicy).sort(byPrecedence);
        return targetOf(group, read, options).flatMap((target) => rulesOf(target, policies, group, read));
      },
    },
  };
}

function isPolicy(input: DerivationInput): input is BackendTlsPolicy & DerivationInput {
  return input.kind === "BackendTLSPolicy";
}

function rulesOf(
  { host, ports }: TargetHost,
  policies: readonly BackendTlsPolicy[],
  group: string,
  read: DerivationReader,
): DerivedObject[] {
  const [, namespace = ""] = group.split("/");
  const bySection = new Map<string, { readonly policy: BackendTlsPolicy; readonly tls: BackendTls }>();
  for (const policy of policies) {
    for (const ref of policy.spec.targetRefs.filter((one) => groupOf(policy, one) === group)) {
      const port = ports.find(({ name }) => name === ref.sectionName)?.number;
      const isMissing = ref.sectionName !== undefined && port === undefined;
      const section = ref.sectionName ?? "";
      if (isMissing || bySection.has(section)) continue;
      bySection.set(section, { policy, tls: { ...(port === undefined ? {} : { port }), ...tlsOf(policy, read) } });
    }
  }
  const [first] = bySection.values();
  if (first === undefined) return [];
  return [{
    kind: "DestinationRule",
    meta: { name: backendTlsObjectName(host), namespace },
    spec: { host, internal: { backendTls: [...bySection.values()].map(({ tls }) => tls) } },
    of: first.policy as BackendTlsPolicy & DerivationInput,
  }];
}

/** TLS of a policy. */
function tlsOf({ meta: { namespace, name }, spec: { validation } }: BackendTlsPolicy, read: DerivationReader) {
  return verifiedTls(namespace, validation, `BackendTLSPolicy ${namespace}/${name}`, read);
}
