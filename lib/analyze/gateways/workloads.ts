/**
 * Gateways without workloads, and Gateway ports without a service in front of the workloads. The analysis needs facts
 * about gateways' pods and about services. Without such facts nothing is reported.
 *
 * @module
 */
import { severityOfAbsence } from "../reader/absence.ts";
import type { WorkloadFact } from "../../config/facts/view.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { isGatewayWorkload } from "../manifests/membership.ts";
import type { AnalysisReader } from "../reader/reader.ts";

export const GATEWAY_WORKLOADS: Analyzer<"Gateway"> = {
  kind: "Gateway",
  reports: ["selects-nothing", "unserved-gateway-port"],
  analyze: (gateway, read, report) => {
    const { selector = {} } = gateway.spec;
    if (Object.keys(selector).length === 0 || read.isListUnknown("workloads")) return;
    const namespaces = read.namespaceNames();
    const selected = namespaces.flatMap((namespace) => read.gatewayWorkloads(gateway, namespace));
    if (selected.length === 0) {
      if (read.settings.whole !== true && !knowsGateways(namespaces, read)) return;
      const labels = Object.entries(selector).map(([key, value]) => `${key}=${value}`).join(", ");
      const where = read.gatewaysServeOwnNamespace ? `namespace ${gateway.meta.namespace}` : "the mesh";
      report(severityOfAbsence(read), "selects-nothing", {
        field: "spec.selector",
        value: selector,
        expected: `labels of gateway pods of ${where} (no known workload has ${labels})`,
      });
    } else lookAtPorts(gateway, selected, read, report);
  },
};

/**
 * Whether any known workload is a gateway, by its looks or by another Gateway's selector. A repository seldom holds the
 * pods of gateways that others installed. A repository without gateway pods proves nothing.
 */
function knowsGateways(namespaces: readonly string[], read: AnalysisReader): boolean {
  if (namespaces.some((namespace) => read.workloads(namespace, {}).some(isGatewayWorkload))) return true;
  return read.objects("Gateway").some((gateway) =>
    Object.keys(gateway.spec.selector ?? {}).length > 0 &&
    namespaces.some((namespace) => read.gatewayWorkloads(gateway, namespace).length > 0)
  );
}

function lookAtPorts(
  { spec: { servers } }: ConfigObject<"Gateway">,
  selected: readonly WorkloadFact[],
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const services = [...new Set(selected.map(({ meta }) => meta.namespace))].flatMap((namespace) =>
    read.serviceFacts(namespace).filter(({ fact: { spec } }) => {
      const wanted = Object.entries(spec.selector);
      return wanted.length > 0 &&
        selected.some((workload) =>
          workload.meta.namespace === namespace && wanted.every(([key, value]) => workload.spec.labels[key] === value)
        );
    })
  );
  if (services.length === 0) return;
  const ports = services.flatMap(({ fact: { spec } }) => spec.ports);
  // A named target port may be any number.
  if (ports.some(({ targetPort }) => typeof targetPort === "string")) return;
  // The port of the service counts as well: for a written service port, gateways listen on the service's target port.
  const known = new Set(ports.flatMap(({ port, targetPort }) => [port, Number(targetPort ?? port)]));
  for (const [at, { port, bind }] of servers.entries()) {
    if (port.number === 0 || known.has(port.number) || bind?.startsWith("unix:")) continue;
    report("warning", "unserved-gateway-port", {
      field: `spec.servers[${at}].port.number`,
      value: port.number,
      expected: `${[...known].sort((a, b) => a - b).join(", ")} (${services.map(({ host }) => host).join(", ")})`,
      others: services.map(({ fact: { key } }) => key),
    });
  }
}
