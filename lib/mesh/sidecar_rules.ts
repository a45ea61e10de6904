/**
 * For which sidecars, and for which ports there, a virtual service has rules: by the conditions of its matches on the
 * workload that asks and on the port that the workload dials.
 *
 *     match: gateways without mesh             no sidecar
 *     match: sourceNamespace a                 the sidecars of namespace a
 *     match: sourceLabels {app: batch}         the sidecars of workloads with the label
 *     match: port 8080                         all sidecars, on port 8080
 *     no match, or a match without these       all sidecars, on all ports
 *
 * A virtual service decides for a host only on the sidecars and ports that it has rules for; elsewhere the next virtual
 * service of the host decides.
 *
 * @module
 */
import type { EffectiveVirtualService, RuleProtocol } from "./types.ts";

/** The name that stands for all sidecars in a virtual service's gateway list. */
export const MESH_GATEWAY = "mesh";

/** The workloads, and the port, that one match is for. */
export interface RuledWorkloads {
  /** Empty: any. */
  readonly namespace: string;
  /** All must hold; sorted by name. Empty: any. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** The port that clients dial. 0: any. */
  readonly port: number;
}

/** The sidecars that have a rule: those that one of these fits; empty: none. */
export type RuledSidecars = "all" | readonly RuledWorkloads[];

/** The facts about a workload that decide. */
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

/** The sidecars that have rules of a protocol. Worked out once for each virtual service. */
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

/** The sidecars that have rules on a port. */
export function ruledOnPort(sidecars: RuledSidecars, port: number): RuledSidecars {
  if (sidecars === "all") return "all";
  const found = sidecars.filter((one) => one.port === 0 || one.port === port);
  return found.some(isForAll) ? "all" : found;
}

/** Whether some rule of the protocol may be for sidecars: one whose matches all name other gateways says nothing there. */
export function hasRulesForSidecars(vs: EffectiveVirtualService, protocol: RuleProtocol): boolean {
  return ruledSidecars(vs, protocol).length > 0;
}

/** Whether a workload's sidecar has one of these rules, on whatever port. */
export function isRuled(sidecars: RuledSidecars, { namespace, labels }: RuledWorkload): boolean {
  return sidecars === "all" ||
    sidecars.some((one) =>
      (one.namespace === "" || one.namespace === namespace) &&
      one.labels.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value)
    );
}

/** Whether every sidecar has some rules of the first wherever it has rules of the second. */
export function rulesAll(first: RuledSidecars, second: RuledSidecars): boolean {
  if (first === "all" || second === "all") return first === "all";
  return second.every(({ namespace, labels, port }) => {
    const onPort = port === 0 ? first.filter((one) => one.port === 0) : ruledOnPort(first, port);
    return isRuled(onPort, { namespace, labels: Object.fromEntries(labels) });
  });
}
