/**
 * AuthorizationPolicy: the requests that a workload accepts.
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
  /** Forbidden identities of the caller. */
  notPrincipals: strings,
  /** Identities of the request's token, as `ISSUER/SUBJECT`. */
  requestPrincipals: strings,
  /** Forbidden identities of the request's token. */
  notRequestPrincipals: strings,
  /** Namespaces of the caller's certificate. */
  namespaces: strings,
  /** Forbidden namespaces of the caller. */
  notNamespaces: strings,
  /** `name` or `namespace/name`; no wildcards. */
  serviceAccounts: strings,
  /** Forbidden service accounts of the caller. */
  notServiceAccounts: strings,
  /** Of the connection. IPs or CIDRs. */
  ipBlocks: strings,
  /** Forbidden addresses of the connection. */
  notIpBlocks: strings,
  /** Of the original client, from forwarding headers. */
  remoteIpBlocks: strings,
  /** Forbidden addresses of the original client. */
  notRemoteIpBlocks: strings,
});

/** Properties of the caller; all set properties must match. Values allow `*`, `prefix*`, `*suffix`. */
export interface AuthorizationSource extends Of<typeof source> {}

const operation = message({
  /** Hosts of the request; compared without regard to case. */
  hosts: strings,
  /** Forbidden hosts of the request. */
  notHosts: strings,
  /** Numbers as strings. */
  ports: strings,
  /** Forbidden ports of the request. */
  notPorts: strings,
  /** HTTP methods; for gRPC always `POST`. */
  methods: strings,
  /** Forbidden HTTP methods of the request. */
  notMethods: strings,
  /** `*` forms, or path templates with `{*}` and `{**}`. */
  paths: strings,
  /** Forbidden paths of the request. */
  notPaths: strings,
});

/** Properties of the request; all set properties must match. */
export interface AuthorizationOperation extends Of<typeof operation> {}

const condition = message({
  /** `request.headers[name]`, `source.ip`, `request.auth.claims[name]`, ... */
  key: required(string(), "an attribute such as request.headers[name]"),
  /** Allowed values of the attribute. */
  values: strings,
  /** Forbidden values of the attribute. */
  notValues: strings,
});

/** An attribute and the attribute's values. */
export interface AuthorizationCondition extends Of<typeof condition> {}

const authorizationRule = message({
  // Written but empty lists are mistakes here, so they are kept for validation.
  /** Allowed callers: any of the list; absent: any caller. */
  from: keepZero(list(message({
    /** Properties of the caller. */
    source,
  }))),
  /** Allowed requests: any of the list; absent: any request. */
  to: keepZero(list(message({
    /** Properties of the request. */
    operation,
  }))),
  /** Further conditions; every condition must hold. */
  when: list(condition),
});

/** A source, an operation and all conditions must match. */
export interface AuthorizationRule extends Of<typeof authorizationRule> {}

export const authorizationPolicy = message({
  /**
   * Workloads of the policy: of its namespace, or of all namespaces if in the root namespace; absent: all workloads.
   */
  selector: workloadSelector,
  /** Deprecated single form of `targetRefs`. */
  targetRef: targetReference,
  /** Objects of the namespace that stand for the workloads instead of a selector: a Gateway, a Service. */
  targetRefs: list(targetReference),
  /** A request matches if any rule matches; absent: nothing matches. An empty rule matches everything. */
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
