/**
 * The rules of a pod in ambient mode, in the chains MESH_INBOUND and MESH_OUTPUT of three tables.
 *
 * nat redirects to the tunnel's sockets. mangle remembers connections that the tunnel opened in the client's name, and
 * marks the application's answers, so that a routing rule brings the answers to the tunnel. raw keeps the tunnel's own
 * DNS questions apart from the application's.
 *
 * @module
 */
import { type AmbientConfig, answerMark, tunnelMark, tunnelPorts } from "../model/ambient_config.ts";
import { chains, type Family, type TableName, zones } from "../model/names.ts";
import type { RuleMatch, Ruleset, RuleTarget, Table } from "../model/rule.ts";
import { TableBuilder, to } from "./table.ts";

const tcp = { protocol: "tcp" } as const;
const udp = { protocol: "udp" } as const;
const accept: RuleTarget = { kind: "accept" };
const dnsPort = { first: 53, last: 53 };

/** The application's localhost. */
const loopback: Readonly<Record<Family, string>> = { 4: "127.0.0.1/32", 6: "::1/128" };

/** All wanted rules of a family. A family that the configuration leaves out has none. */
export function buildAmbientRules(config: AmbientConfig, family: Family): Ruleset {
  if (!config.families.includes(family)) return { family, tables: new Map() };
  const tables: [TableName, Table][] = [
    ["raw", config.capturesDns ? dnsZones() : new TableBuilder().table()],
    ["mangle", answers()],
    ["nat", redirects(config, family)],
  ];
  return { family, tables: new Map(tables.filter(([, table]) => table.hooks.length > 0)) };
}

/** Adds the ways into our two chains. */
function addHooks(table: TableBuilder): void {
  table.hook("PREROUTING", {}, to(chains.inbound), "packets that arrive");
  table.hook("OUTPUT", {}, to(chains.output), "packets that processes send");
}

/** The tunnel and the application ask the same servers, perhaps from the same port. */
function dnsZones(): Table {
  const raw = new TableBuilder();
  const zone: RuleTarget = { kind: "zone", zone: zones.upstream };
  raw.add(chains.output, { ...udp, mark: tunnelMark, destinationPort: dnsPort }, zone, "the tunnel asks");
  raw.add(chains.inbound, { ...udp, notMark: tunnelMark, sourcePort: 53 }, zone, "a server answers the tunnel");
  addHooks(raw);
  return raw.table();
}

/** The tunnel connects to the application from the client's address. */
function answers(): Table {
  const mangle = new TableBuilder();
  mangle.add(
    chains.inbound,
    { mark: tunnelMark },
    { kind: "set connmark", mark: answerMark },
    "a connection of the tunnel to the application",
  );
  mangle.add(chains.output, { connmark: answerMark }, { kind: "restore mark" }, "the answer goes to the tunnel");
  addHooks(mangle);
  return mangle.table();
}

function redirects(config: AmbientConfig, family: Family): Table {
  const nat = new TableBuilder();
  addInbound(nat, config, family);
  addOutbound(nat, config, family);
  addHooks(nat);
  return nat.table();
}

function addInbound(nat: TableBuilder, config: AmbientConfig, family: Family): void {
  const add = (match: RuleMatch, target: RuleTarget, why: string) => nat.add(chains.inbound, match, target, why);
  for (const device of config.virtualInterfaces) {
    const where = { in: device, ...tcp };
    add(where, { kind: "redirect", port: tunnelPorts.outbound }, "a virtual machine's traffic is outbound");
  }
  if (!config.capturesInbound) return;
  add({ source: probeSource(config, family), ...tcp }, accept, "the node's own probes");
  add(
    { notDestination: loopback[family], ...tcp, notDestinationPorts: [tunnelPorts.inboundTunnel], notMark: tunnelMark },
    { kind: "redirect", port: tunnelPorts.inboundPlain },
    "every other connection that arrives",
  );
}

function addOutbound(nat: TableBuilder, config: AmbientConfig, family: Family): void {
  const add = (match: RuleMatch, target: RuleTarget, why: string) => nat.add(chains.output, match, target, why);
  const notLocal = { notDestination: loopback[family] };
  add({ destination: probeSource(config, family), ...tcp }, accept, "answers to the node's own probes");
  if (config.capturesDns) {
    const dns: RuleTarget = { kind: "redirect", port: tunnelPorts.dns };
    add({ notOut: "lo", ...udp, destinationPort: dnsPort, notMark: tunnelMark }, dns, "DNS for the tunnel");
    add({ ...notLocal, ...tcp, destinationPort: dnsPort, notMark: tunnelMark }, dns, "DNS for the tunnel");
  }
  add({ ...tcp, mark: answerMark }, accept, "the answer goes to the tunnel by its route");
  add({ ...notLocal, out: "lo" }, accept, "a process that calls its own address");
  add(
    { ...notLocal, ...tcp, notMark: tunnelMark },
    { kind: "redirect", port: tunnelPorts.outbound },
    "every other connection of the application",
  );
}

function probeSource({ probeSource }: AmbientConfig, family: Family): string {
  return `${probeSource[family]}/${family === 4 ? 32 : 128}`;
}
