/**
 * The table of proxies and their acknowledgements, with the columns of `istioctl proxy-status`.
 *
 * @module
 */
import { formatDuration } from "../../kernel/time/duration.ts";
import { CLUSTER, ENDPOINTS, EXTENSION_CONFIG, LISTENER, ROUTE } from "../../xds/protocol/types.ts";

/** A row of the server's page `/debug/syncz`. */
export interface SyncEntry {
  readonly cluster_id: string;
  readonly proxy: string;
  readonly proxy_type: string;
  readonly mesh_version: string;
  readonly synced: boolean;
  readonly resources: Readonly<Record<string, SyncedType>>;
}

/** What a proxy was sent of a type. */
interface SyncedType {
  readonly sent: string;
  readonly acked: string;
  readonly sentTime?: string;
  readonly lastError?: string;
}

/** The types of the columns. */
const TYPES = { CDS: CLUSTER, LDS: LISTENER, EDS: ENDPOINTS, RDS: ROUTE, ECDS: EXTENSION_CONFIG } as const;

/** A proxy of one of the asked servers. */
export interface SyncRow {
  readonly name: string;
  readonly cluster: string;
  readonly type: string;
  /** Whether every push is acknowledged, and nothing is missing. */
  readonly synced: boolean;
  readonly status: Readonly<Record<keyof typeof TYPES, string>>;
  readonly errors: readonly string[];
  readonly server: string;
  readonly version: string;
}

/** A row of a proxy. @param now Milliseconds since the epoch, for the age of what was sent. */
export function syncRow(entry: SyncEntry, server: string, now: number): SyncRow {
  const status = Object.fromEntries(
    Object.entries(TYPES).map(([name, typeUrl]) => [name, statusText(entry.resources[typeUrl], now)]),
  ) as SyncRow["status"];
  return {
    ...{ name: entry.proxy, cluster: entry.cluster_id, type: entry.proxy_type, synced: entry.synced, status },
    errors: Object.values(entry.resources).flatMap(({ lastError }) => lastError ? [lastError] : []),
    ...{ server, version: entry.mesh_version },
  };
}

/** `IGNORED`: the proxy does not ask for the type. */
function statusText(type: SyncedType | undefined, now: number): string {
  if (type === undefined) return "IGNORED";
  const { sent, acked, sentTime, lastError } = type;
  if (lastError) return "ERROR";
  if (sent === "") return "NOT SENT";
  const age = sentTime === undefined ? "" : ` (${ageText(now - Date.parse(sentTime))})`;
  if (sent === acked) return `SYNCED${age}`;
  return acked === "" ? "STALE (Never Acknowledged)" : `STALE${age}`;
}

function ageText(ms: number): string {
  return formatDuration(Math.max(0, Math.floor(ms / 1000)) * 1000);
}

/** The table's cells with the heading. */
export function syncCells(rows: readonly SyncRow[]): string[][] {
  return [
    ["NAME", "CLUSTER", ...Object.keys(TYPES), "MESHD", "VERSION"],
    ...rows.map(({ name, cluster, status, server, version }) => [
      ...[name, cluster],
      ...Object.values(status),
      ...[server, version],
    ]),
  ];
}
