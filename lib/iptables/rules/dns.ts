/**
 * Redirected DNS: the chain MESH_OUTPUT_DNS in the table nat, and conntrack zones in the table raw.
 *
 * The agent asks the same servers as the workload. If client and agent happened to use the same source port, the kernel
 * would take both queries for a single UDP connection and give the answer to the wrong query. So the queries are
 * tracked in two zones.
 *
 * @module
 */
import { capturesDns, type RedirectionConfig } from "../model/config.ts";
import { chains, type Family, zones } from "../model/names.ts";
import type { RuleMatch } from "../model/rule.ts";
import { proxyOwners } from "./outbound.ts";
import { leave, type TableBuilder, to } from "./table.ts";

const dnsPort = { first: 53, last: 53 };
const udp = { protocol: "udp" } as const;

/** Servers of the redirected DNS, as `address/bits`. A single undefined stands for all servers. */
function servers({ dns }: RedirectionConfig, family: Family): (string | undefined)[] {
  if (dns === undefined) return [];
  return dns.all ? [undefined] : dns.servers[family].map((address) => `${address}/${family === 4 ? 32 : 128}`);
}

/** Adds redirection of DNS, UDP and TCP. */
export function addDnsRedirect(nat: TableBuilder, config: RedirectionConfig, family: Family): void {
  const { dns } = config;
  if (dns === undefined) return;
  for (const protocol of ["tcp", "udp"] as const) {
    for (const server of servers(config, family)) {
      const destination = server === undefined ? {} : { destination: server };
      nat.add(
        chains.outputDns,
        { ...destination, protocol, destinationPort: dnsPort },
        { kind: "redirect", port: dns.port },
        "to the agent",
      );
    }
  }
}

/** Adds the zones of DNS over UDP. Other DNS stays in the kernel's own zone. */
export function addDnsZones(raw: TableBuilder, config: RedirectionConfig, family: Family): void {
  const { dns } = config;
  if (dns === undefined || !capturesDns(config, family)) return;
  const add = (match: RuleMatch, zone: number, why: string) =>
    raw.add(chains.outputDns, { ...match, ...udp }, { kind: "zone", zone }, why);

  for (const out of config.interfacesExcluded) raw.add(chains.outputDns, { out }, leave, "excluded device");
  for (const device of config.interfacesExcluded) raw.add(chains.inbound, { in: device }, leave, "excluded device");
  for (const owner of proxyOwners(config)) {
    add({ ...owner, destinationPort: dnsPort }, zones.upstream, "the agent asks");
    add({ ...owner, sourcePort: dns.port }, zones.client, "the agent answers");
  }
  // The first zone of a packet counts. Clients without redirection share the agent's zone, where the answers are.
  const upstream = (match: RuleMatch) => add({ ...match, destinationPort: dnsPort }, zones.upstream, "not redirected");
  if (config.groups.all) config.groups.except.forEach((gid) => upstream({ gid }));
  for (const server of servers(config, family)) {
    const destination = server === undefined ? {} : { destination: server };
    const source = server === undefined ? {} : { source: server };
    const clients = config.groups.all ? [{}] : config.groups.only.map((gid) => ({ gid }));
    for (const client of clients) {
      add({ ...client, ...destination, destinationPort: dnsPort }, zones.client, "a client asks");
    }
    raw.add(
      chains.inbound,
      { ...source, ...udp, sourcePort: 53 },
      { kind: "zone", zone: zones.upstream },
      "a server answers",
    );
  }
  if (!config.groups.all) upstream({});
  raw.hook("OUTPUT", {}, to(chains.outputDns), "packets that processes send");
  raw.hook("PREROUTING", {}, to(chains.inbound), "packets that arrive");
}
