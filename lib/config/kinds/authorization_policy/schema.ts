/**
 * AuthorizationPolicy: which requests a workload accepts.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { keepZero, required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, string } from "../../schema/scalars.ts";
import { targetReference, workloadSelector } from "../common/schema.ts";

const strings = list(string());

const source = message({
  /** Identities of the caller's certificate, as `cluster.local/ns/NAMESPACE/sa/ACCOUNT`. */
  principals: strings,
  /** Identities that the caller must not have. */
  notPrincipals: strings,
  /** Identities of the request's token, as `ISSUER/SUBJECT`. */
  requestPrincipals: strings,
  /** Token identities that the request must not have. */
  notRequestPrincipals: strings,
  /** Namespaces of the caller's certificate. */
  namespaces: strings,
  /** Namespaces that the caller must not be of. */
  notNamespaces: strings,
  /** `name` or `namespace/name`; no wildcards. */
  serviceAccounts: strings,
  /** Service accounts that the caller must not run as. */
  notServiceAccounts: strings,
  /** Of the connection. IPs or CIDRs. */
  ipBlocks: strings,
  /** Addresses that the connection must not come from. */
  notIpBlocks: strings,
  /** Of the original client, from forwarding headers. */
  remoteIpBlocks: strings,
  /** Addresses that the original client must not have. */
  notRemoteIpBlocks: strings,
});

/** Properties of the caller; all set ones must match. Values allow `*`, `prefix*`, `*suffix`. */
export interface AuthorizationSource extends Of<typeof source> {}

const operation = message({
  /** Hosts of the request; compared without regard to case. */
  hosts: strings,
  /** Hosts that the request must not be for. */
  notHosts: strings,
  /** Numbers as strings. */
  ports: strings,
  /** Ports that the request must not be for. */
  notPorts: strings,
  /** HTTP methods; for gRPC always `POST`. */
  methods: strings,
  /** HTTP methods that the request must not have. */
  notMethods: strings,
  /** `*` forms, or path templates with `{*}` and `{**}`. */
  paths: strings,
  /** Paths that the request must not have. */
  notPaths: strings,
});

/** Properties of the request; all set ones must match. */
export interface AuthorizationOperation extends Of<typeof operation> {}

const condition = message({
  /** `request.headers[name]`, `source.ip`, `request.auth.claims[name]`, ... */
  key: required(string(), "an attribute such as request.headers[name]"),
  /** The attribute must have one of these values. */
  values: strings,
  /** The attribute must have none of these values. */
  notValues: strings,
});

/** An attribute and its values. */
export interface AuthorizationCondition extends Of<typeof condition> {}

const authorizationRule = message({
  // Written but empty lists are mistakes here, so they are kept for validation to see.
  /** The caller must match one of these; absent: any caller. */
  from: keepZero(list(message({
    /** Properties of the caller. */
    source,
  }))),
  /** The request must match one of these; absent: any request. */
  to: keepZero(list(message({
    /** Properties of the request. */
    operation,
  }))),
  /** All of these must hold. */
  when: list(condition),
});

/** One source, one operation and all conditions must match. */
export interface AuthorizationRule extends Of<typeof authorizationRule> {}

export const authorizationPolicy = message({
  /** Workloads of the namespace that the policy is for, of all namespaces in the root namespace; absent: all of them. */
  selector: workloadSelector,
  /** Deprecated single form of `targetRefs`. */
  targetRef: targetReference,
  /** Objects of the namespace that stand for the workloads instead of a selector: a Gateway, a Service. */
  targetRefs: list(targetReference),
  /** A request matches when one rule does; absent: nothing matches. One empty rule matches everything. */
  rules: list(authorizationRule),
  /** Default ALLOW. */
  action: withDefault(enumOf("ALLOW", "DENY", "AUDIT", "CUSTOM"), "ALLOW"),
  /** The external authorizer (CUSTOM only): the name of an extension provider. */
  provider: message({
    /** Name of the extension provider. */
    name: string(),
  }),
});

/** Spec of an AuthorizationPolicy. */
export interface AuthorizationPolicySpec extends Of<typeof authorizationPolicy> {}
