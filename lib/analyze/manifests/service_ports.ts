/**
 * Ports of the orchestrator's services: whether the ports name their protocol, and whether services of the same
 * workload agree.
 *
 * @module
 */
import type { Fact, ServicePortData } from "../../config/facts/types.ts";
import { portProtocol } from "../../registry/protocol.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { isControlPlane, isInMesh, isOwnGateway } from "./membership.ts";

/** The label of services that the mesh makes for a gateway. */
const MANAGED = "gateway.mesh.io/managed";

/** Names of ports. */
export const PORT_PROTOCOLS: Analyzer<"Service"> = {
  kind: "Service",
  reports: ["port-without-protocol"],
  analyze: (service, _read, report) => {
    if (isControlPlane(service) || isOwnGateway(service.spec.selector)) return;
    // An ExternalName service stands for another service, whose ports count.
    if (Object.hasOwn(service.meta.labels, MANAGED) || service.spec.type === "ExternalName") return;
    for (const [at, port] of service.spec.ports.entries()) {
      if (protocolOf(port) !== "Unsupported") continue;
      report("info", "port-without-protocol", {
        field: `spec.ports[${at}].name`,
        value: port.name === "" ? undefined : port.name,
        expected: "a name that begins with a protocol (http-..., grpc-..., tcp-...), or appProtocol",
      });
    }
  },
};

function protocolOf({ name, port, protocol, appProtocol }: ServicePortData): string {
  return portProtocol({ name, port, transport: protocol, ...(appProtocol === undefined ? {} : { appProtocol }) });
}

/** A port of a service of a workload. */
interface WorkloadPort {
  readonly service: Fact<"Service">;
  readonly port: ServicePortData;
}

/** Compares the services of a Deployment. */
export const SERVICES_OF_DEPLOYMENTS: Analyzer<"Deployment"> = {
  kind: "Deployment",
  reports: ["services-differ-in-transport", "services-differ-in-port"],
  analyze: (deployment, read, report) => {
    if (Object.hasOwn(deployment.meta.labels, MANAGED) || !isInMesh(deployment, read)) return;
    const ports = servicesOf(deployment, read).flatMap((service) =>
      service.spec.ports.map((port) => ({ service, port }))
    );
    for (const [number, same] of Map.groupBy(ports, ({ port }) => port.port)) {
      const protocols = new Set(same.map(({ port }) => port.protocol));
      if (protocols.size < 2 || servicesIn(same).length < 2) continue;
      tell(same, "services-differ-in-transport", `one transport protocol for port ${number}`, [...protocols], report);
    }
    for (const [target, same] of Map.groupBy(ports, ({ port }) => `${port.targetPort ?? port.port} ${port.protocol}`)) {
      const numbers = new Set(same.map(({ port }) => port.port));
      const protocols = new Set(same.map(({ port }) => protocolOf(port)));
      // A service may have two ports for the same port of the workload, if both ports have the same protocol.
      if (numbers.size < 2 || (servicesIn(same).length < 2 && protocols.size < 2)) continue;
      const expected = `one port of services for target port ${target.split(" ")[0]}`;
      tell(same, "services-differ-in-port", expected, [...numbers], report);
    }
  },
};

function servicesOf({ meta: { namespace }, spec: { labels } }: Fact<"Deployment">, read: AnalysisReader) {
  return read.factsIn("Service", namespace).filter(({ spec: { selector } }) => {
    const wanted = Object.entries(selector);
    return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
  });
}

function servicesIn(ports: readonly WorkloadPort[]): string[] {
  return [...new Set(ports.map(({ service }) => service.key))].sort();
}

function tell(
  ports: readonly WorkloadPort[],
  name: "services-differ-in-transport" | "services-differ-in-port",
  expected: string,
  value: readonly (string | number)[],
  report: ReportMistake,
): void {
  const others = servicesIn(ports);
  const names = others.map((key) => key.slice(key.indexOf("/") + 1)).join(", ");
  const field = "spec.template.metadata.labels";
  report("warning", name, { field, expected: `${expected} (${names} have ${value.join(" and ")})`, others });
}
