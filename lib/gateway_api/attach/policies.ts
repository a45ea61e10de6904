/**
 * BackendTLSPolicies: their targets and their authorities.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { backendTrust } from "./backend_trust.ts";
import { policyAtTargets } from "./policy_targets.ts";
import type { AttachOptions, AttachReader, BackendTlsView } from "./types.ts";
import { IN_FORCE } from "./verdicts.ts";

type BackendTlsObject = ConfigObject<"BackendTLSPolicy">;

/** A BackendTLSPolicy with everything that configuration decides about it. */
export function backendTlsView(
  policy: BackendTlsObject,
  read: AttachReader,
  options: AttachOptions,
): BackendTlsView {
  const trust = backendTrust(policy.meta.namespace, policy.spec.validation, read);
  const all = read.objects("BackendTLSPolicy", policy.meta.namespace);
  const targets = policyAtTargets(policy, all, trust.refusal ?? IN_FORCE, read, options);
  return { policy, targets, resolvedRefs: trust.resolvedRefs, authorities: trust.authorities };
}
