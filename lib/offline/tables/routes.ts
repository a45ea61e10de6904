/**
 * The table of routes: a row for each route of each virtual host.
 *
 * @module
 */
import { type Dump, type DumpJson, json, list, objectBehind, text, texts } from "./dump.ts";
import { type DumpTable, inOrder, type TableRow } from "./table.ts";

/** Number of domains of a virtual host in a row. */
const SHOWN_DOMAINS = 2;

/** The table, by the name of the configuration. Routes stay in the order in which the proxy tries them. */
export function routeTable({ routes }: Dump): DumpTable {
  return {
    heading: ["NAME", "VHOST NAME", "DOMAINS", "MATCH", "VIRTUAL SERVICE"],
    rows: inOrder(routes.flatMap(routeRows), [0, 1]),
  };
}

function routeRows(config: DumpJson): TableRow[] {
  const name = text(config.name);
  const row = (cells: readonly string[]): TableRow => ({ cells: [name, ...cells], values: { name }, resource: config });
  return list(config.virtual_hosts).flatMap((host) => {
    const start = [text(host.name), domainsText(texts(host.domains))];
    const routes = list(host.routes);
    // A virtual host without routes answers every request with this status.
    if (routes.length === 0) return [row([...start, "/*", "404"])];
    return routes.map((route) => row([...start, matchText(json(route.match)), behind(route)]));
  });
}

function behind(route: DumpJson): string {
  return objectBehind(route, "virtual-service") || text(json(route.direct_response).status);
}

/** The shortest spellings: `reviews.shop` goes without saying beside `reviews`. */
function domainsText(domains: readonly string[]): string {
  const isLonger = (one: string) => domains.some((other) => other !== one && one.startsWith(`${other}.`));
  const shown = domains.filter((one) => !isLonger(one));
  const rest = shown.length - SHOWN_DOMAINS;
  const first = shown.slice(0, SHOWN_DOMAINS).join(", ");
  return rest > 0 ? `${first} + ${rest} more...` : first;
}

/** The path of a condition: `/v1*` for a prefix, `/v1` for the exact path. */
export function routePath({ prefix, path, path_separated_prefix, safe_regex, connect_matcher }: DumpJson): string {
  if (prefix !== undefined) return `${text(prefix)}*`;
  if (path !== undefined) return text(path);
  if (path_separated_prefix !== undefined) return `PathPrefix:${text(path_separated_prefix)}`;
  if (safe_regex !== undefined) return `regex ${text(json(safe_regex).regex)}`;
  return connect_matcher === undefined ? "" : "CONNECT";
}

/** Without the names of headers and parameters two rules for one path would look the same. */
function matchText(match: DumpJson): string {
  const names = (what: string, conditions: unknown) => list(conditions).map(({ name }) => `${what} ${text(name)}`);
  return [routePath(match), ...names("header", match.headers), ...names("query", match.query_parameters)].join(", ");
}
