/**
 * Our server with its own `resolv.conf`, on a free port.
 *
 * Permissions: net (loopback), read, write (a temporary folder).
 * @module
 */
import { type DnsServer, type DnsServerOptions, startDnsServer } from "../../../lib/dns/server.ts";
import type { ListenEndpoint } from "../../../lib/dns/listen_plan.ts";
import type { NameTable } from "../../../lib/dns/table/types.ts";
import { createLog, defaultLogOptions, type Logger } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";

/** The table of most tests. */
export const names = JSON.parse(
  Deno.readTextFileSync(new URL("../../testdata/dns/names.json", import.meta.url)),
) as NameTable;

/** A log without a reader. */
export function silentLog(): Logger {
  return createLog([], { ...defaultLogOptions, targets: [] }).scope("dns");
}

/** A server under test. */
export interface TestServer extends Disposable {
  readonly server: DnsServer;
  /** Of the first address. */
  readonly at: ListenEndpoint;
  readonly resolvConf: string;
  /** Value of a metric without labels. */
  metric(name: string): Promise<number>;
}

/** Starts a server in namespace ns1 of cluster.local, with the table unless another, or none, is given. */
export async function startServer(
  resolv: { readonly servers?: readonly string[]; readonly search?: string; readonly port?: number } = {},
  changes: Partial<DnsServerOptions> = {},
  table: NameTable | null = names,
): Promise<TestServer> {
  const resolvConf = await Deno.makeTempFile({ suffix: ".resolv.conf" });
  const search = resolv.search ?? "ns1.svc.cluster.local svc.cluster.local cluster.local";
  const lines = (resolv.servers ?? []).map((server) => `nameserver ${server}\n`);
  await Deno.writeTextFile(resolvConf, `${lines.join("")}search ${search}\noptions ndots:5\n`);
  const metrics = createMetrics("pilot-agent");
  const server = await startDnsServer({
    settings: { DNS_PROXY_ADDR: "localhost:0", DNS_FORWARD_PARALLEL: false },
    namespace: "ns1",
    domain: "ns1.svc.cluster.local",
    root: false,
    log: silentLog(),
    metrics,
    resolvConf,
    ...(resolv.port === undefined ? {} : { upstreamPort: resolv.port }),
    ...changes,
  });
  if (table !== null) server.update(table);
  return {
    server,
    at: server.listening[0]!.address,
    resolvConf,
    async metric(name) {
      const { body } = await metrics.scrape();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(body)?.[1] ?? NaN);
    },
    [Symbol.dispose]() {
      void server.close();
      Deno.removeSync(resolvConf);
    },
  };
}
