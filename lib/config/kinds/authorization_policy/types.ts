/**
 * AuthorizationPolicy: who may do what.
 *
 * @module
 */
import type { PolicyTargetReference, WorkloadSelector } from "../common/types.ts";

/** Spec of an AuthorizationPolicy. */
export interface AuthorizationPolicySpec {
  readonly selector?: WorkloadSelector;
  /** Deprecated single form of `targetRefs`. */
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
  /** A request matches when one rule does; absent: nothing matches. One empty rule matches everything. */
  readonly rules?: readonly AuthorizationRule[];
  /** Default ALLOW. */
  readonly action: "ALLOW" | "DENY" | "AUDIT" | "CUSTOM";
  /** The external authorizer (CUSTOM only): the name of an extension provider. */
  readonly provider?: { readonly name?: string };
}

/** One source, one operation and all conditions must match. */
export interface AuthorizationRule {
  readonly from?: readonly { readonly source?: AuthorizationSource }[];
  readonly to?: readonly { readonly operation?: AuthorizationOperation }[];
  readonly when?: readonly AuthorizationCondition[];
}

/** Properties of the caller; all set ones must match. Values allow `*`, `prefix*`, `*suffix`. */
export interface AuthorizationSource {
  readonly principals?: readonly string[];
  readonly notPrincipals?: readonly string[];
  readonly requestPrincipals?: readonly string[];
  readonly notRequestPrincipals?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly notNamespaces?: readonly string[];
  /** `name` or `namespace/name`; no wildcards. */
  readonly serviceAccounts?: readonly string[];
  readonly notServiceAccounts?: readonly string[];
  /** Of the connection. IPs or CIDRs. */
  readonly ipBlocks?: readonly string[];
  readonly notIpBlocks?: readonly string[];
  /** Of the original client, from forwarding headers. */
  readonly remoteIpBlocks?: readonly string[];
  readonly notRemoteIpBlocks?: readonly string[];
}

/** Properties of the request; all set ones must match. */
export interface AuthorizationOperation {
  readonly hosts?: readonly string[];
  readonly notHosts?: readonly string[];
  /** Numbers as strings. */
  readonly ports?: readonly string[];
  readonly notPorts?: readonly string[];
  readonly methods?: readonly string[];
  readonly notMethods?: readonly string[];
  /** `*` forms, or path templates with `{*}` and `{**}`. */
  readonly paths?: readonly string[];
  readonly notPaths?: readonly string[];
}

/** An attribute and its values. */
export interface AuthorizationCondition {
  /** `request.headers[name]`, `source.ip`, `request.auth.claims[name]`, ... */
  readonly key: string;
  readonly values?: readonly string[];
  readonly notValues?: readonly string[];
}
