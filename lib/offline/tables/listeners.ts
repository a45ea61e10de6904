/**
 * The table of listeners: a row for each filter chain.
 *
 * @module
 */
import { addressParts, type Dump, type DumpJson, json, list, text, texts } from "./dump.ts";
import { routePath } from "./routes.ts";
import { type DumpTable, inOrder, type TableRow } from "./table.ts";

/** Clusters without a host; their name says everything. */
const PLAIN_CLUSTERS = ["PassthroughCluster", "InboundPassthroughCluster", "BlackHoleCluster"];

/** The table, by port. */
export function listenerTable({ listeners }: Dump): DumpTable {
  return {
    heading: ["ADDRESSES", "PORT", "MATCH", "DESTINATION"],
    rows: inOrder(listeners.flatMap(chainRows), [1, 0]),
  };
}

function chainRows(listener: DumpJson): TableRow[] {
  const { address, port } = addressParts(listener.address);
  const more = list(listener.additional_addresses).map((one) => addressParts(one.address).address);
  const addresses = [address, ...more].join(",");
  const defaults = listener.default_filter_chain === undefined ? [] : [json(listener.default_filter_chain)];
  const chains = [...list(listener.filter_chains), ...defaults];
  const shown = chains.length > 0 ? chains : [{}];
  return shown.map((chain) => ({
    cells: [addresses, port, matchText(json(chain.filter_chain_match)), destinationText(chain)],
    values: { address, port, type: chainType(chain) },
    resource: listener,
  }));
}

/** The condition of a filter chain: `Trans: tls; App: h2; Addr: 10.0.0.0/8`, or `ALL`. */
function matchText(match: DumpJson): string {
  const names = texts(match.server_names);
  const protocols = texts(match.application_protocols);
  const ranges = list(match.prefix_ranges).map(({ address_prefix, prefix_len }) =>
    `${text(address_prefix)}/${text(prefix_len) || "0"}`
  );
  const port = text(match.destination_port);
  const addresses = ranges.length > 0 || port !== ""
    ? `${ranges.join(",") || "*"}${port === "" ? "" : `:${port}`}`
    : "";
  const parts = [
    names.length === 0 ? "" : `SNI: ${names.join(",")}`,
    match.transport_protocol === undefined ? "" : `Trans: ${text(match.transport_protocol)}`,
    protocols.length === 0 ? "" : `App: ${protocols.join(",")}`,
    addresses === "" ? "" : `Addr: ${addresses}`,
  ].filter((part) => part !== "");
  return parts.join("; ") || "ALL";
}

function networkFilter(chain: DumpJson, ending: string): DumpJson | undefined {
  return list(chain.filters).map(({ typed_config }) => json(typed_config)).find((config) =>
    text(config["@type"]).endsWith(ending)
  );
}

function chainType(chain: DumpJson): string {
  if (networkFilter(chain, ".HttpConnectionManager") !== undefined) return "HTTP";
  return networkFilter(chain, ".TcpProxy") === undefined ? "UNKNOWN" : "TCP";
}

function destinationText(chain: DumpJson): string {
  const manager = networkFilter(chain, ".HttpConnectionManager");
  if (manager !== undefined) return routeText(manager);
  const tcp = networkFilter(chain, ".TcpProxy");
  if (tcp === undefined) return "Non-HTTP/Non-TCP";
  const shares = list(json(tcp.weighted_clusters).clusters).map(({ name }) => text(name));
  const clusters = shares.length > 0 ? shares : [text(tcp.cluster)];
  const named = clusters.join(", ");
  return PLAIN_CLUSTERS.includes(named) ? named : `Cluster: ${named}`;
}

function routeText({ rds, route_config, scoped_routes }: DumpJson): string {
  if (rds !== undefined) return `Route: ${text(json(rds).route_config_name)}`;
  if (scoped_routes !== undefined) return `Scoped Routes: ${text(json(scoped_routes).name)}`;
  const paths = list(json(route_config).virtual_hosts).flatMap(({ domains, routes }) => {
    const hosts = texts(domains).filter((one) => one !== "*");
    return list(routes).map(({ match }) => `${hosts.join(",")}${routePath(json(match))}`);
  });
  return `Inline Route: ${[...new Set(paths)].join(", ")}`;
}
