/**
 * The table of clusters.
 *
 * @module
 */
import { type Dump, type DumpJson, json, objectBehind, text } from "./dump.ts";
import { type DumpTable, inOrder, type TableRow } from "./table.ts";

/** What the name of a cluster says. */
interface ClusterName {
  readonly direction: string;
  readonly port: string;
  readonly subset: string;
  readonly fqdn: string;
}

/** Reads `outbound|80|v1|host`, or `outbound_.80_.v1_.host` of a gateway between networks. */
export function clusterName(name: string): ClusterName | undefined {
  const parts = name.includes("|") ? name.split("|") : name.split("_.");
  const [direction = "", port = "", subset = "", ...host] = parts;
  if (host.length !== 1 || !/^\d+$/.test(port)) return undefined;
  return { direction, port, subset, fqdn: host[0]! };
}

/** The table, by host, port and subset. */
export function clusterTable({ clusters }: Dump): DumpTable {
  return {
    heading: ["SERVICE FQDN", "PORT", "SUBSET", "DIRECTION", "TYPE", "DESTINATION RULE"],
    rows: inOrder(clusters.map(clusterRow), [0, 1, 2, 3]),
  };
}

function clusterRow(cluster: DumpJson): TableRow {
  const { type, cluster_type } = cluster;
  const name = text(cluster.name);
  const { fqdn, port, subset, direction } = clusterName(name) ?? { fqdn: name, port: "", subset: "", direction: "" };
  const kind = text(json(cluster_type).name) || text(type) || "STATIC";
  const cells = [
    ...[fqdn, port || "-", subset || "-", direction || "-"],
    ...[kind, objectBehind(cluster, "destination-rule")],
  ];
  return { cells, values: { fqdn, port, subset, direction }, resource: cluster };
}
