/**
 * The rules for incoming packets: the chain MESH_INBOUND, in the table nat (REDIRECT) or mangle (TPROXY).
 *
 * REDIRECT rewrites the destination to the proxy's port. TPROXY hands the packet to the proxy's socket unchanged: the
 * packet is marked, and a rule of routing delivers marked packets to this machine for every address.
 *
 * @module
 */
import { capturesInbound, type RedirectionConfig } from "../model/config.ts";
import { chains, type Family, OUTBOUND_MARK, passthroughSource } from "../model/names.ts";
import type { PortRange, RuleMatch, RuleTarget } from "../model/rule.ts";
import { addCaptured, proxyOwners } from "./outbound.ts";
import { leave, type TableBuilder, to } from "./table.ts";

const tcp = { protocol: "tcp" } as const;

/** Adds the rules of inbound packets by REDIRECT, and of virtual machines in either mode. */
export function addInboundRedirect(nat: TableBuilder, config: RedirectionConfig, family: Family): void {
  for (const device of config.interfacesExcluded) nat.add(chains.inbound, { in: device }, leave, "excluded device");
  for (const device of config.virtualInterfaces) {
    const where = { in: device };
    for (const destinationPort of config.outboundPortsExcluded) {
      nat.add(chains.inbound, { ...where, ...tcp, destinationPort }, leave, "excluded port");
    }
    for (const destination of config.outboundRangesExcluded[family]) {
      nat.add(chains.inbound, { ...where, destination }, leave, "excluded range");
    }
    addCaptured(nat, config, family, chains.inbound, where);
    nat.add(chains.inbound, where, leave, "a virtual machine's traffic is outbound, never inbound");
  }
  if (config.inboundMode === "REDIRECT" && capturesInbound(config)) {
    addPorts(nat, config, (match, why) => nat.add(chains.inbound, match, to(chains.inRedirect), why));
  } else if (config.virtualInterfaces.length === 0) {
    return;
  }
  nat.hook("PREROUTING", tcp, to(chains.inbound), "packets that arrive");
}

/** Adds the exceptions, then by `take` the redirecting rules. */
function addPorts(
  table: TableBuilder,
  config: RedirectionConfig,
  take: (match: RuleMatch, why: string) => void,
): void {
  const except = (destinationPort: PortRange, why: string) =>
    table.add(chains.inbound, { ...tcp, destinationPort }, leave, why);
  except({ first: config.tunnelPort, last: config.tunnelPort }, "the proxy listens for tunnels itself");
  if (!config.inboundPorts.all) {
    for (const destinationPort of config.inboundPorts.only) take({ ...tcp, destinationPort }, "included port");
    return;
  }
  for (const range of config.inboundPorts.except) except(range, "excluded port");
  take(tcp, "every other port");
}

/** Adds the way of inbound packets by TPROXY. */
export function addInboundTproxy(mangle: TableBuilder, config: RedirectionConfig, family: Family): void {
  const mark = config.tproxyMark;
  const add = (match: RuleMatch, target: RuleTarget, why: string) => mangle.add(chains.inbound, match, target, why);

  for (const device of config.interfacesExcluded) add({ in: device }, leave, "excluded device");
  for (const device of config.virtualInterfaces) add({ in: device }, leave, "a virtual machine's traffic is outbound");
  add({ ...tcp, mark }, { kind: "save mark" }, "the proxy's connection to the application, in the client's name");
  add({ ...tcp, mark }, leave, "it is not taken again");
  add({ source: passthroughSource[family], in: "lo", ...tcp }, leave, "the inbound proxy reaches the application");
  add({ in: "lo", ...tcp, notMark: OUTBOUND_MARK }, leave, "a process that calls its own address");
  addPorts(mangle, config, (match, why) => {
    add({ ...match, state: "RELATED,ESTABLISHED" }, to(chains.divert), `${why}: a connection that was taken`);
    add(match, to(chains.tproxy), `${why}: a new connection`);
  });

  mangle.add(chains.divert, {}, { kind: "mark", mark }, "route it to the proxy");
  mangle.add(chains.divert, {}, { kind: "accept" }, "and look no further");
  mangle.add(
    chains.tproxy,
    { ...tcp, notDestination: config.loopback[family] },
    { kind: "tproxy", port: config.inboundPort, mark },
    "hand it to the proxy's socket",
  );
  mangle.hook("PREROUTING", tcp, to(chains.inbound), "packets that arrive");
  addAnswers(mangle, config, family);
}

/** Marks packets that must return to the proxy's sockets, which have the clients' addresses. */
function addAnswers(mangle: TableBuilder, config: RedirectionConfig, family: Family): void {
  const mark = config.tproxyMark;
  for (const out of config.interfacesExcluded) mangle.add(chains.output, { out }, leave, "excluded device");
  mangle.add(chains.output, { out: "lo", ...tcp, mark }, leave, "the proxy marked it");
  for (const owner of proxyOwners(config)) {
    mangle.add(
      chains.output,
      { ...owner, notDestination: config.loopback[family], out: "lo", ...tcp },
      { kind: "mark", mark: OUTBOUND_MARK },
      "the outbound proxy chose its own workload: inbound to it",
    );
  }
  mangle.add(
    chains.output,
    { ...tcp, connmark: mark },
    { kind: "restore mark" },
    "the application's answer goes to the proxy, not to the client",
  );
  mangle.hook("OUTPUT", tcp, to(chains.output), "packets that processes send");
}
