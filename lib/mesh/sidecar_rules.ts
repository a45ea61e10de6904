/**
 * The sidecars and ports for which a virtual service has rules, by the matches' conditions on the client workload and
 * the dialled port.
 *
 *     match: gateways without mesh             no sidecar
 *     match: sourceNamespace a                 the sidecars of namespace a
 *     match: sourceLabels {app: batch}         the sidecars of workloads with the label
 *     match: port 8080                         all sidecars, on port 8080
 *     no match, or a match without these       all sidecars, on all ports
 *
 * A virtual service decides for a host only on sidecars and ports with rules. Elsewhere the next virtual service of the
 * host decides.
 *
 * @module
 */
import type { EffectiveVirtualService, RuleProtocol } from "./types.ts";

/** Stands for all sidecars in a virtual service's gateway list. */
export const MESH_GATEWAY = "mesh";

/** The workloads and the port of a match. */
export interface RuledWorkloads {
  /** Empty: any. */
  readonly namespace: string;
  /** All must hold; sorted by name. Empty: any. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** The dialled port. 0: any. */
  readonly port: number;
}

/** The sidecars with a rule, by conditions. Empty: none. */
export type RuledSidecars = "all" | readonly RuledWorkloads[];

/** The deciding facts about a workload. */
export interface RuledWorkload {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface RuleOfSources {
  readonly match?: readonly {
    readonly gateways?: readonly string[];
    readonly port?: number;
    readonly sourceNamespace?: string;
    readonly sourceLabels?: Readonly<Record<string, string>>;
  }[];
}

const known: Readonly<Record<RuleProtocol, WeakMap<EffectiveVirtualService, RuledSidecars>>> = {
  http: new WeakMap(),
  tls: new WeakMap(),
  tcp: new WeakMap(),
};

/** The sidecars with rules of a protocol. Computed once for each virtual service. */
export function ruledSidecars(vs: EffectiveVirtualService, protocol: RuleProtocol): RuledSidecars {
  let found = known[protocol].get(vs);
  if (found === undefined) {
    found = workloadsOf(vs.spec[protocol] ?? []);
    known[protocol].set(vs, found);
  }
  return found;
}

function workloadsOf(rules: readonly RuleOfSources[]): RuledSidecars {
  const found = new Map<string, RuledWorkloads>();
  for (const { match = [] } of rules) {
    if (match.length === 0) return "all";
    for (const { gateways = [], port = 0, sourceNamespace: namespace = "", sourceLabels = {} } of match) {
      if (gateways.length > 0 && !gateways.includes(MESH_GATEWAY)) continue;
      const labels = Object.entries(sourceLabels).sort(([a], [b]) => a < b ? -1 : 1);
      const one = { namespace, labels, port };
      if (isForAll(one) && port === 0) return "all";
      found.set(JSON.stringify(one), one);
    }
  }
  return [...found.values()];
}

function isForAll({ namespace, labels }: RuledWorkloads): boolean {
  return namespace === "" && labels.length === 0;
}

/** The sidecars with rules on a port. */
export function ruledOnPort(sidecars: RuledSidecars, port: number): RuledSidecars {
  if (sidecars === "all") return "all";
  const found = sidecars.filter((one) => one.port === 0 || one.port === port);
  return found.some(isForAll) ? "all" : found;
}

/**
 * Whether some rule of the protocol may be for sidecars. A rule is not for sidecars if all its matches name other
 * gateways.
 */
export function hasRulesForSidecars(vs: EffectiveVirtualService, protocol: RuleProtocol): boolean {
  return ruledSidecars(vs, protocol).length > 0;
}

/** Whether a workload's sidecar has a rule, on any port. */
export function isRuled(sidecars: RuledSidecars, { namespace, labels }: RuledWorkload): boolean {
  return sidecars === "all" ||
    sidecars.some((one) =>
      (one.namespace === "" || one.namespace === namespace) &&
      one.labels.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value)
    );
}

/** Whether every sidecar and port with rules of the second also has rules of the first. */
export function rulesAll(first: RuledSidecars, second: RuledSidecars): boolean {
  if (first === "all" || second === "all") return first === "all";
  return second.every(({ namespace, labels, port }) => {
    const onPort = port === 0 ? first.filter((one) => one.port === 0) : ruledOnPort(first, port);
    return isRuled(onPort, { namespace, labels: Object.fromEntries(labels) });
  });
}
