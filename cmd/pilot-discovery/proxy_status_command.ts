/**
 * The command `proxy-status`: the proxies of running servers, and their acknowledgements.
 *
 * Permissions: net (the addresses of the servers).
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { columns } from "../../lib/cli/terminal/layout.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import { syncCells, type SyncEntry, type SyncRow, syncRow } from "../../lib/offline/tables/sync.ts";
import { askServer, serverOfFlag } from "./ask_server.ts";
import type { proxyStatusFlags } from "./server_flags.ts";

/** Prints the proxies. Resolves with 0, or with 1 if a proxy is not in sync. */
export async function runProxyStatus({ flags, args, output }: Invocation<typeof proxyStatusFlags>): Promise<number> {
  const servers = [...new Set(flags.server)].map(serverOfFlag);
  const all = (await Promise.all(servers.map(rowsOf))).flat();
  const rows = all.filter(({ name }) => isNamed(name, args[0], flags.namespace))
    .sort((a, b) => a.name < b.name ? -1 : 1);
  if (args[0] !== undefined && rows.length === 0) {
    const asked = servers.map(({ host }) => host).join(", ");
    throw new UsageError(`no proxy ${args[0]} is connected to ${asked}, which ${knownText(all)}`);
  }
  if (flags.output === "json") output.out(`${JSON.stringify({ proxies: rows }, undefined, 2)}\n`);
  else output.out(rows.length === 0 ? "no proxy is connected\n" : safeText(tableText(rows)));
  return rows.every(({ synced }) => synced) ? 0 : 1;
}

async function rowsOf(server: URL): Promise<SyncRow[]> {
  const answer = await askServer("GET", new URL("/debug/syncz", server));
  const isList = Array.isArray(answer) && answer.every((one) => typeof one?.resources === "object");
  if (!isList) throw new UsageError(`${server.origin}/debug/syncz: got another form, expected a list of proxies`);
  const now = Date.now();
  return (answer as SyncEntry[]).map((entry) => syncRow(entry, server.host, now));
}

/** A name counts with its namespace or without. */
function isNamed(proxy: string, wanted: string | undefined, namespace: string): boolean {
  if (namespace !== "" && !proxy.endsWith(`.${namespace}`)) return false;
  return wanted === undefined || proxy === wanted || proxy.slice(0, proxy.lastIndexOf(".")) === wanted;
}

/** Most names in an error. */
const MAX_NAMED = 10;

function knownText(rows: readonly SyncRow[]): string {
  const names = rows.map(({ name }) => name).sort();
  if (names.length === 0) return "has no proxy";
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return `has ${names.slice(0, MAX_NAMED).join(", ")}${more}`;
}

function tableText(rows: readonly SyncRow[]): string {
  const errors = rows.flatMap(({ name, errors }) => errors.map((text) => `${name} rejects: ${text}`));
  return [...columns(syncCells(rows)), ...errors, ""].join("\n");
}
