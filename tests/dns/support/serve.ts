/**
 * A server of ours and a name server behind it, in one process, for a namespace of its own:
 *
 *     serve.ts <DNS_PROXY_ADDR> <resolv.conf> <resolv.conf behind> <name table> <address of the name server> <its zone>
 *
 * Says `ready` when both listen.
 *
 * Permissions: net, read.
 *
 * @module
 */
import { startDnsServer } from "../../../lib/dns/server.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { startUpstream } from "./upstream.ts";

const [address, resolvConf, resolvConfBehind, table, upstream, zone] = Deno.args as [
  string,
  string,
  string,
  string,
  string,
  string,
];
startUpstream(upstream, 53, JSON.parse(zone));
const server = await startDnsServer({
  settings: { DNS_PROXY_ADDR: address, DNS_FORWARD_PARALLEL: false },
  namespace: "ns1",
  domain: "ns1.svc.cluster.local",
  root: true,
  log: createLog([], { ...defaultLogOptions, targets: ["stderr"] }).scope("dns"),
  metrics: createMetrics("pilot-agent"),
  resolvConf,
  resolvConfBehind,
});
server.update(JSON.parse(await Deno.readTextFile(table)));
console.log("ready");
