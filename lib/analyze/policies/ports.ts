/**
 * Policies that name the port of a service instead of the workload's port. Connections arrive at the workload's port.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { selectionOf } from "../../mesh/selection/selection.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** Ports in rules of AuthorizationPolicies. */
export const AUTHORIZATION_PORTS: Analyzer<"AuthorizationPolicy"> = {
  kind: "AuthorizationPolicy",
  reports: ["policy-port-of-service"],
  analyze: (policy, read, report) => {
    const { rules = [] } = policy.spec;
    const written = rules.flatMap(({ to = [] }, rule) =>
      to.flatMap(({ operation: { ports = [] } = {} }, at) =>
        ports.map((value, port) => ({ value, field: `spec.rules[${rule}].to[${at}].operation.ports[${port}]` }))
      )
    );
    lookAt(policy, written, read, report);
  },
};

/** Ports of PeerAuthentications. */
export const PEER_PORTS: Analyzer<"PeerAuthentication"> = {
  kind: "PeerAuthentication",
  reports: ["policy-port-of-service"],
  analyze: (policy, read, report) => {
    const ports = Object.keys(policy.spec.portLevelMtls ?? {});
    lookAt(policy, ports.map((value) => ({ value, field: "spec.portLevelMtls" })), read, report);
  },
};

interface WrittenPort {
  readonly field: string;
  readonly value: string;
}

function lookAt(
  policy: ConfigObject<"AuthorizationPolicy" | "PeerAuthentication">,
  written: readonly WrittenPort[],
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { meta: { namespace } } = policy;
  // An object for the whole mesh is for ports of many workloads.
  if (written.length === 0 || namespace === read.meshConfig.rootNamespace) return;
  const { labels, targets } = selectionOf(policy as ConfigObject<"AuthorizationPolicy">);
  if (targets.length > 0) return;
  const known = portsOf(namespace, labels, read);
  if (known === undefined || known.length === 0) return;
  const served = new Set(known.map(({ target }) => target));
  for (const { field, value } of written) {
    const number = Number(value);
    const meant = served.has(number) ? undefined : known.find(({ port }) => port === number);
    if (meant === undefined) continue;
    report("warning", "policy-port-of-service", {
      field,
      value: number,
      expected: `${meant.target}, the port of the workload (${meant.name} sends its port ${number} there)`,
      others: [meant.cause],
    });
  }
}

/** A port of a service, and the workload port behind it. */
interface LedPort {
  readonly port: number;
  readonly target: number;
  /** Of the service, for texts. */
  readonly name: string;
  readonly cause: string;
}

/**
 * Ports of the services of some workloads, and ports declared by pods; undefined: the number of some port is not known.
 */
function portsOf(namespace: string, labels: StringMap, read: AnalysisReader): readonly LedPort[] | undefined {
  const entries = read.objectsIn("WorkloadEntry", namespace)
    .map(({ meta, spec }): StringMap => ({ ...meta.labels, ...spec.labels })).filter((own) =>
      carriesLabels(own, labels)
    );
  const pods = read.workloads(namespace, labels);
  const workloads = [...entries, ...pods.map(({ spec }) => spec.labels)];
  const found: LedPort[] = pods.flatMap((pod) =>
    pod.spec.containers.flatMap(({ ports }) =>
      ports.map(({ port }) => ({ port, target: port, name: pod.key, cause: pod.key }))
    )
  );
  for (const { key, meta, spec } of read.objectsIn("ServiceEntry", namespace)) {
    const selector = spec.workloadSelector?.labels;
    const leads = selector === undefined
      ? (spec.endpoints ?? []).some((endpoint) => carriesLabels(endpoint.labels ?? {}, labels))
      : workloads.some((own) => carriesLabels(own, selector));
    if (!leads) continue;
    if ((spec.endpoints ?? []).some(({ ports = {} }) => Object.keys(ports).length > 0)) return undefined;
    for (const { number, targetPort } of spec.ports ?? []) {
      found.push({ port: number, target: targetPort || number, name: `ServiceEntry ${meta.name}`, cause: key });
    }
  }
  for (const { fact: { key, meta, spec } } of read.serviceFacts(namespace)) {
    const { selector, ports } = spec;
    if (Object.keys(selector).length === 0 || !workloads.some((own) => carriesLabels(own, selector))) continue;
    for (const { port, targetPort = port } of ports) {
      if (typeof targetPort === "string") return undefined;
      found.push({ port, target: targetPort, name: `Service ${meta.name}`, cause: key });
    }
  }
  return found;
}
