/**
 * The workload's DNS server in an agent. The answers come from the name table of the discovery server.
 *
 * Permissions: net (DNS_PROXY_ADDR, the name servers), read (resolv.conf), sys (uid).
 *
 * @module
 */
import type { DnsServer } from "../../dns/server.ts";
import { NAME_TABLE_MESSAGE, type NameTable } from "../../dns/table/types.ts";
import type { Log } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { OwnHandler } from "../relay/relay.ts";
import type { AgentInput } from "./agent_input.ts";

/** Type of the name table in requests. */
export const NAME_TABLE_TYPE = `type.googleapis.com/${NAME_TABLE_MESSAGE}`;

/** A DNS server and its handler of name tables. */
export interface MeshNameServer {
  /** Takes over a name table. If the table cannot be read, the previous table stays in force. */
  readonly take: OwnHandler;
  /** The table as received. Undefined: none has arrived yet. */
  readonly table: NameTable | undefined;
  /** Listening addresses of the server. */
  readonly listening: DnsServer["listening"];
  /** Why a workload should not start yet; undefined: names of the mesh are answered. */
  notReady(): Promise<string | undefined>;
  close(): Promise<void>;
}

/**
 * Whether the settings ask for a DNS server and a name table can arrive. Redirection is for sidecars, so that
 * `MESH_META_DNS_CAPTURE` as a default of the whole mesh opens no port at gateways. `MESH_META_ENABLE_DNS_SERVER` is
 * for both. An agent without a proxy has no DNS server: a table arrives only on the proxy's stream, and a server
 * without a table answers SERVFAIL to everything.
 */
export function wantsNameServer({ settings, workload }: Pick<AgentInput, "settings" | "workload">): boolean {
  if (settings.DISABLE_PROXY) return false;
  return settings.MESH_META_ENABLE_DNS_SERVER || (settings.MESH_META_DNS_CAPTURE && workload.role === "sidecar");
}

/**
 * Starts the DNS server if the settings ask for one. The server's modules are loaded only then.
 * @throws {Error} With DNS_PROXY_ADDR when the address is wrong or cannot be opened, or with `resolv.conf` when this
 * file cannot be read.
 */
export async function startNameServer(
  input: AgentInput,
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): Promise<MeshNameServer | undefined> {
  const { settings, workload } = input;
  if (!wantsNameServer(input)) return undefined;
  const [{ startDnsServer }, { decodeNameTable }] = await Promise.all([
    import("../../dns/server.ts"),
    import("../../dns/table/name_table_wire.ts"),
  ]);
  const logger = log.scope("dns");
  const server = await startDnsServer({
    settings,
    namespace: workload.namespace,
    domain: workload.domain,
    root: Deno.uid() === 0,
    ...{ clock, metrics, log: logger },
  });
  for (const { transport, address } of server.listening) logger.info("listening", { transport, ...address });
  return {
    take({ resources: [first] }) {
      if (first === undefined) return;
      const { findings } = server.update(decodeNameTable(first.body));
      for (const { host, message } of findings) logger.debug(`${host}: ${message}`);
    },
    get table() {
      return server.nameTable;
    },
    listening: server.listening,
    notReady: () => Promise.resolve(server.ready ? undefined : "no name table has come yet"),
    close: () => server.close(),
  };
}
