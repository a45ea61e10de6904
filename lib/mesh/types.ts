/**
 * The types for translation: the effective form of the users' configuration, from a place in the mesh.
 *
 *     config store ─┐
 *                   ├─> snapshot ──> scope (namespace + Sidecar) ──> reader of one class of proxies
 *     registries ───┘
 *
 * All values are immutable and identity-stable: the same question gets the same object (`===`) until something behind
 * the answer changes. So a result can be reused for every proxy with the same answers.
 *
 * @module
 */
import type { CaptureMode } from "../config/kinds/sidecar/schema.ts";
import type { BackendTls, RetryBudget } from "../config/kinds/destination_rule/internal.ts";
import type { RuleSession } from "../config/kinds/virtual_service/internal.ts";
import type { DestinationRuleSpec, VirtualServiceSpec } from "../config/kinds/kinds.ts";

/**
 * A virtual service in force: short names made full, delegates merged in, hosts lower case. `spec` has the shape of the
 * users' configuration.
 */
export interface EffectiveVirtualService {
  readonly name: string;
  readonly namespace: string;
  readonly hosts: readonly string[];
  /** `mesh`, or gateways as `namespace/name`. Never empty. */
  readonly gateways: readonly string[];
  readonly spec: VirtualServiceSpec;
  readonly exportTo: readonly string[];
  readonly creationTimestamp: number;
  /** Prefixes of paths end at the end of a path segment, as in an Ingress. Absent: anywhere. */
  readonly segmentPrefixes?: true;
  /** The rules are for clients that get the host's service from this namespace. Absent: for all clients. */
  readonly serviceNamespace?: string;
  /** Keys of the config objects behind the virtual service: the root first, then delegates, then routes behind rules. */
  readonly causes: readonly string[];
  /** Where each http rule is written. Absent: at the same position of the root. */
  readonly httpOrigins?: readonly RuleOrigin[];
}

/** Where an http rule of an effective virtual service is written. */
export interface RuleOrigin {
  /** Position in the root. */
  readonly rule: number;
  /** The delegate of the merged rule, with the rule's position there. Absent: no delegate. */
  readonly delegate?: { readonly key: string; readonly rule: number };
}

/** The kinds of rules of a virtual service; each kind is for other connections. */
export type RuleProtocol = "http" | "tls" | "tcp";

/** The destination rule in force for a host, from a scope: several rules of the host, merged. */
export interface EffectiveDestinationRule {
  /** Name and namespace of the first rule. */
  readonly name: string;
  readonly namespace: string;
  readonly spec: DestinationRuleSpec;
  /** Keys of the config objects behind the rule. */
  readonly causes: readonly string[];
  /** TLS to the host by a BackendTLSPolicy. Absent: none. */
  readonly backendTls?: readonly BackendTls[];
  /** Limit of retries to the host by an XBackendTrafficPolicy. Absent: none. */
  readonly retryBudget?: RetryBudget;
  /** Session of requests to the host by an XBackendTrafficPolicy. Absent: none. */
  readonly session?: RuleSession;
}

/**
 * An egress listener of a scope. A scope without a `Sidecar` has a single catch-all listener for everything exported.
 */
export interface EgressListener {
  /** Position in the Sidecar; 0 for the implied listener. */
  readonly index: number;
  /** Absent: catch-all, a listener for every port of the visible services. */
  readonly port?: { readonly number: number; readonly protocol: string; readonly name: string };
  /** IP address or `unix:///path` to bind; absent: by rule. */
  readonly bind?: string;
  readonly captureMode: CaptureMode;
}
