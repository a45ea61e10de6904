/**
 * The table of endpoints, from a dump or from Envoy's page `/clusters?format=json`.
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import { addressParts, type Dump, type DumpJson, json, list, text } from "./dump.ts";
import { type DumpTable, inOrder, type TableRow } from "./table.ts";

const HEADING = ["ENDPOINT", "STATUS", "OUTLIER CHECK", "CLUSTER"];

/**
 * The table of a dump, with the endpoints inside of clusters. A dump does not say whether outlier detection has ejected
 * an endpoint.
 */
export function endpointTable({ endpoints, clusters }: Dump): DumpTable {
  const held = (endpoints ?? []).map((one) => ({ cluster: text(one.cluster_name), assignment: one }));
  const known = new Set(held.map(({ cluster }) => cluster));
  const inline = clusters.filter(({ load_assignment, name }) => load_assignment !== undefined && !known.has(text(name)))
    .map(({ name, load_assignment }) => ({ cluster: text(name), assignment: json(load_assignment) }));
  const rows = [...held, ...inline].flatMap(({ cluster, assignment }) =>
    list(assignment.endpoints).flatMap(({ lb_endpoints }) =>
      list(lb_endpoints).map((one) => {
        const { address } = json(one.endpoint);
        return row({ address, status: statusOf(text(one.health_status)), outlier: "-", cluster, resource: one });
      })
    )
  );
  return { heading: HEADING, rows: inOrder(rows, [0, 3]) };
}

/** Whether the text is Envoy's page of clusters. */
export function isClustersPage(value: unknown): boolean {
  return Array.isArray(json(value).cluster_statuses);
}

/** The table of Envoy's page of clusters, which knows what outlier detection has ejected. */
export function liveEndpointTable(page: unknown): DumpTable {
  const rows = list(json(page).cluster_statuses).flatMap(({ name, host_statuses }) =>
    list(host_statuses).map((host) => {
      const { eds_health_status, failed_outlier_check, failed_active_health_check } = json(host.health_status);
      const status = failed_active_health_check === true ? "UNHEALTHY" : statusOf(text(eds_health_status));
      const outlier = failed_outlier_check === true ? "FAILED" : "OK";
      return row({ address: host.address, status, outlier, cluster: text(name), resource: host });
    })
  );
  return { heading: HEADING, rows: inOrder(rows, [0, 3]) };
}

/** Proxies send requests to endpoints of unknown health. */
function statusOf(status: string): string {
  return status === "" || status === "UNKNOWN" ? "HEALTHY" : status;
}

interface EndpointFacts {
  readonly address: unknown;
  readonly status: string;
  readonly outlier: string;
  readonly cluster: string;
  readonly resource: DumpJson;
}

function row({ address: written, status, outlier, cluster, resource }: EndpointFacts): TableRow {
  const { address, port } = addressParts(written);
  const shown = port === "0" ? address : hostAndPort(address, port);
  return {
    cells: [shown, status, outlier, cluster],
    values: { address, port, status: status.toLowerCase(), cluster },
    resource,
  };
}
