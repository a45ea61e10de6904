/**
 * The rules for outgoing packets: the chain MESH_OUTPUT of the table nat.
 *
 * @module
 */
import { capturesDns, type RedirectionConfig, usesTproxy } from "../model/config.ts";
import { chains, type Family, passthroughSource } from "../model/names.ts";
import type { RuleMatch, RuleTarget } from "../model/rule.ts";
import { leave, type TableBuilder, to } from "./table.ts";

/** Users and groups of the proxy, as matches. */
export function proxyOwners(config: RedirectionConfig): RuleMatch[] {
  return [...config.proxyUids.map((uid) => ({ uid })), ...config.proxyGids.map((gid) => ({ gid }))];
}

/** Adds the rules of outbound packets. Order matters: the first matching rule decides. */
export function addOutbound(nat: TableBuilder, config: RedirectionConfig, family: Family): void {
  const add = (match: RuleMatch, target: RuleTarget, why: string) => nat.add(chains.output, match, target, why);
  const loopback = config.loopback[family];

  for (const out of config.interfacesExcluded) add({ out }, leave, "excluded device");
  for (const destinationPort of config.outboundPortsExcluded) {
    add({ protocol: "tcp", destinationPort }, leave, "excluded port");
    add({ protocol: "udp", destinationPort }, leave, "excluded port");
  }
  add({ source: passthroughSource[family], out: "lo" }, leave, "the inbound proxy reaches the application");
  if (usesTproxy(config)) {
    const mark = config.tproxyMark;
    add({ out: "lo", protocol: "tcp", mark }, leave, "the inbound proxy reaches it in the client's name");
  }

  // An application calls its own service, and its proxy chose this very workload: the call is inbound to the workload.
  // DNS is the agent's question to a server in this workload, and the proxy listens on the tunnel port.
  const direct = [...(capturesDns(config, family) ? [53] : []), config.tunnelPort];
  for (const owner of proxyOwners(config)) {
    add(
      { ...owner, out: "lo", notDestination: loopback, protocol: "tcp", notDestinationPorts: direct },
      to(chains.inRedirect),
      "the outbound proxy chose its own workload",
    );
  }
  for (const owner of proxyOwners(config)) add(owner, leave, "the proxy's own traffic");

  const chain = addGroups(nat, config);
  const addRest = (match: RuleMatch, target: RuleTarget, why: string) => nat.add(chain, match, target, why);
  addRest({}, to(chains.outputDns), "DNS for the agent");

  const namesLoopback = config.outboundRanges.only[family].some((range) => isLoopback(range, family));
  if (!namesLoopback) addRest({ out: "lo" }, leave, "a process that calls its own address");
  addRest({ destination: loopback }, leave, "a process that calls localhost");
  for (const destination of config.outboundRangesExcluded[family]) addRest({ destination }, leave, "excluded range");
  addCaptured(nat, config, family, chain, {});

  nat.add(
    chains.redirect,
    { protocol: "tcp" },
    { kind: "redirect", port: config.proxyPort },
    "to the proxy's outbound port",
  );
  nat.add(
    chains.inRedirect,
    { protocol: "tcp" },
    { kind: "redirect", port: config.inboundPort },
    "to the proxy's inbound port",
  );
  nat.hook("OUTPUT", {}, to(chains.output), "packets that processes send");
}

/**
 * Leaves processes of other groups alone. Returns the chain for the redirected groups: a separate chain for named
 * groups, because a single rule cannot name many groups (iptables-restore accepts 255 words a line).
 */
function addGroups(nat: TableBuilder, { groups }: RedirectionConfig): OutputChain {
  if (groups.all) {
    for (const gid of groups.except) nat.add(chains.output, { gid }, leave, "excluded group");
    return chains.output;
  }
  for (const gid of groups.only) nat.add(chains.output, { gid }, to(chains.outputGroups), "a group that is redirected");
  return chains.outputGroups;
}

type OutputChain = typeof chains.output | typeof chains.outputGroups;

/** Adds the rules that redirect packets with `where`, by port and by range. */
export function addCaptured(
  nat: TableBuilder,
  config: RedirectionConfig,
  family: Family,
  chain: OutputChain | typeof chains.inbound,
  where: RuleMatch,
): void {
  for (const destinationPort of config.outboundPorts) {
    nat.add(chain, { ...where, protocol: "tcp", destinationPort }, to(chains.redirect), "included port");
  }
  if (config.outboundRanges.all) {
    nat.add(chain, where, to(chains.redirect), "everything else");
    return;
  }
  for (const destination of config.outboundRanges.only[family]) {
    nat.add(chain, { ...where, destination }, to(chains.redirect), "included range");
  }
}

function isLoopback(range: string, family: Family): boolean {
  return family === 4 ? range.startsWith("127.") : range.startsWith("::1/");
}
