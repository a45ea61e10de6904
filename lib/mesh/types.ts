/**
 * The types that translation reads: the effective form of the users' configuration, seen from one place in the mesh.
 *
 *     config store ─┐
 *                   ├─> snapshot ──> scope (namespace + Sidecar) ──> reader of one class of proxies
 *     registries ───┘
 *
 * All values are immutable and identity-stable: as long as nothing that made it changed, the same question gets the
 * same object (`===`). So a result can be reused for every proxy for which all answers are the same.
 *
 * @module
 */
import type { CaptureMode } from "../config/kinds/sidecar/schema.ts";
import type { DestinationRuleSpec, VirtualServiceSpec } from "../config/kinds/kinds.ts";

/**
 * A virtual service as the mesh acts on it: short names made full, delegates merged in, hosts lower case.
 * `spec` has the same shape that users write.
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
  /** Prefixes of paths end where a segment of the path does, as those of an Ingress do; absent: anywhere. */
  readonly segmentPrefixes?: true;
  /** Keys of the config objects that made it: the root first, then its delegates. */
  readonly causes: readonly string[];
  /** Where each of its http rules is written; absent: at the same position of the root. */
  readonly httpOrigins?: readonly RuleOrigin[];
}

/** Where an http rule of an effective virtual service is written. */
export interface RuleOrigin {
  /** Position in the root. */
  readonly rule: number;
  /** The delegate whose rule was merged into that of the root, with the position there; absent: none. */
  readonly delegate?: { readonly key: string; readonly rule: number };
}

/** The kinds of rules that a virtual service has; each list is for connections of its own. */
export type RuleProtocol = "http" | "tls" | "tcp";

/** The destination rule in force for one host, as one scope sees it: several rules of one host merged. */
export interface EffectiveDestinationRule {
  /** Name and namespace of the first rule. */
  readonly name: string;
  readonly namespace: string;
  readonly spec: DestinationRuleSpec;
  /** Keys of the config objects that made it. */
  readonly causes: readonly string[];
}

/** One egress listener of a scope. Without a `Sidecar` there is one, catch-all, that sees everything exported. */
export interface EgressListener {
  /** Position in the Sidecar; 0 for the implied one. */
  readonly index: number;
  /** Absent: catch-all, one listener for every port of the services that it sees. */
  readonly port?: { readonly number: number; readonly protocol: string; readonly name: string };
  /** IP address or `unix:///path` to bind; absent: by rule. */
  readonly bind?: string;
  readonly captureMode: CaptureMode;
}
