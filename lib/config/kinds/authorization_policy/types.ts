/**
 * AuthorizationPolicy: which requests a workload accepts.
 *
 * @module
 */
import type { PolicyTargetReference, WorkloadSelector } from "../common/types.ts";

/** Spec of an AuthorizationPolicy. */
export interface AuthorizationPolicySpec {
  /** Workloads of the namespace that the policy is for, of all namespaces in the root namespace; absent: all of them. */
  readonly selector?: WorkloadSelector;
  /** Deprecated single form of `targetRefs`. */
  readonly targetRef?: PolicyTargetReference;
  /** Objects of the namespace that stand for the workloads instead of a selector: a Gateway, a Service. */
  readonly targetRefs?: readonly PolicyTargetReference[];
  /** A request matches when one rule does; absent: nothing matches. One empty rule matches everything. */
  readonly rules?: readonly AuthorizationRule[];
  /** Default ALLOW. */
  readonly action: "ALLOW" | "DENY" | "AUDIT" | "CUSTOM";
  /** The external authorizer (CUSTOM only): the name of an extension provider. */
  readonly provider?: {
    /** Name of the extension provider. */
    readonly name?: string;
  };
}

/** One source, one operation and all conditions must match. */
export interface AuthorizationRule {
  /** The caller must match one of these; absent: any caller. */
  readonly from?: readonly {
    /** Properties of the caller. */
    readonly source?: AuthorizationSource;
  }[];
  /** The request must match one of these; absent: any request. */
  readonly to?: readonly {
    /** Properties of the request. */
    readonly operation?: AuthorizationOperation;
  }[];
  /** All of these must hold. */
  readonly when?: readonly AuthorizationCondition[];
}

/** Properties of the caller; all set ones must match. Values allow `*`, `prefix*`, `*suffix`. */
export interface AuthorizationSource {
  /** Identities of the caller's certificate, as `cluster.local/ns/NAMESPACE/sa/ACCOUNT`. */
  readonly principals?: readonly string[];
  /** Identities that the caller must not have. */
  readonly notPrincipals?: readonly string[];
  /** Identities of the request's token, as `ISSUER/SUBJECT`. */
  readonly requestPrincipals?: readonly string[];
  /** Token identities that the request must not have. */
  readonly notRequestPrincipals?: readonly string[];
  /** Namespaces of the caller's certificate. */
  readonly namespaces?: readonly string[];
  /** Namespaces that the caller must not be of. */
  readonly notNamespaces?: readonly string[];
  /** `name` or `namespace/name`; no wildcards. */
  readonly serviceAccounts?: readonly string[];
  /** Service accounts that the caller must not run as. */
  readonly notServiceAccounts?: readonly string[];
  /** Of the connection. IPs or CIDRs. */
  readonly ipBlocks?: readonly string[];
  /** Addresses that the connection must not come from. */
  readonly notIpBlocks?: readonly string[];
  /** Of the original client, from forwarding headers. */
  readonly remoteIpBlocks?: readonly string[];
  /** Addresses that the original client must not have. */
  readonly notRemoteIpBlocks?: readonly string[];
}

/** Properties of the request; all set ones must match. */
export interface AuthorizationOperation {
  /** Hosts of the request; compared without regard to case. */
  readonly hosts?: readonly string[];
  /** Hosts that the request must not be for. */
  readonly notHosts?: readonly string[];
  /** Numbers as strings. */
  readonly ports?: readonly string[];
  /** Ports that the request must not be for. */
  readonly notPorts?: readonly string[];
  /** HTTP methods; for gRPC always `POST`. */
  readonly methods?: readonly string[];
  /** HTTP methods that the request must not have. */
  readonly notMethods?: readonly string[];
  /** `*` forms, or path templates with `{*}` and `{**}`. */
  readonly paths?: readonly string[];
  /** Paths that the request must not have. */
  readonly notPaths?: readonly string[];
}

/** An attribute and its values. */
export interface AuthorizationCondition {
  /** `request.headers[name]`, `source.ip`, `request.auth.claims[name]`, ... */
  readonly key: string;
  /** The attribute must have one of these values. */
  readonly values?: readonly string[];
  /** The attribute must have none of these values. */
  readonly notValues?: readonly string[];
}
