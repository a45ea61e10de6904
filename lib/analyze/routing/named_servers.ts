/**
 * Destinations whose servers are found by a name in the traffic, although the traffic lacks the name: mirrors,
 * connections with other bytes than HTTP, and several destinations of a rule for connections.
 *
 * @module
 */
import type { Destination, RouteDestination } from "../../config/kinds/virtual_service/schema.ts";
import { type DialledServer, dialledServer, sharedServer } from "../../mesh/dialled_server.ts";
import { namedService } from "../../mesh/named_service.ts";
import type { Service } from "../../registry/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";

/** A destination as written, its service, and the dialled server. */
interface FoundDestination {
  readonly field: string;
  readonly destination: Destination;
  readonly service: Service | undefined;
  readonly server: DialledServer | undefined;
}

export const NAMED_SERVERS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["server-without-name"],
  analyze: ({ meta: { namespace }, spec: { http = [], tls = [], tcp = [] } }, read, report) => {
    const named = (field: string, destination: Destination): FoundDestination => {
      const found = namedService(read.fullHost(destination.host, namespace), (host) => read.service(host, namespace));
      const { service } = found;
      const [only, ...more] = service?.ports ?? [];
      const port = destination.port?.number ?? (more.length === 0 ? only?.port : undefined);
      return { field, destination, service, server: port === undefined ? undefined : dialledServer(found, port) };
    };
    http.forEach(({ mirror, mirrors = [] }, at) => {
      const all = [
        ...mirror ? [named(`spec.http[${at}].mirror`, mirror)] : [],
        ...mirrors.map(({ destination }, one) => named(`spec.http[${at}].mirrors[${one}].destination`, destination)),
      ];
      for (const one of all.filter(({ server }) => server !== undefined && server.host === undefined)) {
        tell(report, one, "a host under the wildcard, or a mirror whose service has addresses");
      }
    });
    const connections = (list: "tls" | "tcp", at: number, route: readonly RouteDestination[] = []) => {
      const used = route.map((one, index) => ({ ...one, index }))
        .filter(({ weight = 0 }) => route.length === 1 || weight > 0)
        .map(({ destination, index }) => named(`spec.${list}[${at}].route[${index}].destination`, destination));
      reportConnections(used, list, report);
    };
    tls.forEach(({ route }, at) => connections("tls", at, route));
    tcp.forEach(({ route }, at) => connections("tcp", at, route));
  },
};

/** Of several servers none is looked up; bytes name none. */
function reportConnections(used: readonly FoundDestination[], list: "tls" | "tcp", report: ReportMistake): void {
  const server = sharedServer(used.map((one) => one.server));
  const [first] = used.filter((one) => one.server !== undefined);
  if (server === undefined || first === undefined) return;
  if (server === "several") tell(report, first, "a single destination, or destinations whose services have addresses");
  else if (list === "tcp" && server.host === undefined) tell(report, first, "a host under the wildcard");
}

function tell(report: ReportMistake, { field, destination, service }: FoundDestination, wanted: string): void {
  report("error", "server-without-name", {
    field: `${field}.host`,
    value: destination.host,
    expected: `${wanted} (proxies dial the host that traffic to ${service?.hostname} names)`,
    others: service === undefined ? [] : [service.cause],
  });
}
