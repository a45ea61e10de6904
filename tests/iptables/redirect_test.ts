/**
 * Who reaches whom through what, by REDIRECT: real sockets in network namespaces, on both back ends and in both
 * families. The listeners on the proxy's ports answer with their name and the destination that was meant.
 */
import assert from "node:assert/strict";
import { applyIn, type Changes } from "./support/inputs.ts";
import { addresses, Cable, type Dialled, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

type Side = keyof typeof users | "client";

/** One case: who dials what, and what answers. `original` tells that the listener knows the destination meant. */
interface Case {
  readonly who: Side;
  /** Name of an address, or an address. */
  readonly to: string;
  readonly port: number;
  readonly protocol?: "udp";
  readonly reaches: string;
  readonly because: string;
}

interface Scenario {
  readonly name: string;
  readonly config: Changes;
  readonly cases: readonly Case[];
}

const inbound = "inbound proxy";
const outbound = "outbound proxy";

const scenarios: readonly Scenario[] = [
  {
    name: "everything, with exceptions",
    config: {
      inboundPorts: "*",
      inboundPortsExcluded: "9000",
      outboundRanges: "*",
      outboundRangesExcluded: "10.77.0.3/32,fd77::3/128",
      outboundPortsExcluded: "9100",
      groupsExcluded: "5000",
    },
    cases: [
      { who: "client", to: "pod", port: 8080, reaches: inbound, because: "inbound traffic is redirected" },
      { who: "client", to: "pod", port: 9000, reaches: "app", because: "the inbound port is excluded" },
      { who: "client", to: "pod", port: 15008, reaches: "tunnel", because: "the proxy listens there itself" },
      { who: "app", to: "client", port: 8080, reaches: outbound, because: "outbound traffic is redirected" },
      { who: "app", to: "client", port: 9100, reaches: "server", because: "the outbound port is excluded" },
      { who: "app", to: "other", port: 8080, reaches: "server", because: "the range is excluded" },
      { who: "app", to: "localhost", port: 8080, reaches: "app", because: "localhost is left alone" },
      { who: "app", to: "pod", port: 8080, reaches: "app", because: "an own address is left alone" },
      { who: "proxy", to: "client", port: 8080, reaches: "server", because: "it is the proxy's own traffic" },
      { who: "proxy", to: "localhost", port: 8080, reaches: "app", because: "the proxy reaches the application" },
      { who: "proxy", to: "pod", port: 8080, reaches: inbound, because: "the proxy chose its own workload" },
      { who: "proxy", to: "pod", port: 15008, reaches: "tunnel", because: "a tunnel to its own workload" },
      { who: "proxyGroup", to: "client", port: 8080, reaches: "server", because: "the proxy's group counts too" },
      { who: "proxyGroup", to: "pod", port: 8080, reaches: inbound, because: "also for its own workload" },
      { who: "other", to: "client", port: 8080, reaches: "server", because: "the group is excluded" },
      { who: "app", to: "client", port: 53, protocol: "udp", reaches: "dns server", because: "DNS is not asked for" },
      { who: "app", to: "client", port: 5000, protocol: "udp", reaches: "server", because: "UDP is left alone" },
    ],
  },
  {
    name: "only what is named",
    config: {
      inboundPorts: "8080,9000:9002",
      outboundRanges: "10.77.0.3/32,fd77::3",
      outboundPorts: "9100",
      groups: "1000,java",
    },
    cases: [
      { who: "client", to: "pod", port: 8080, reaches: inbound, because: "the port is named" },
      { who: "client", to: "pod", port: 9000, reaches: inbound, because: "the port is in a range that is named" },
      { who: "client", to: "pod", port: 7000, reaches: "app", because: "the port is not named" },
      { who: "app", to: "other", port: 8080, reaches: outbound, because: "the range is named" },
      { who: "app", to: "client", port: 8080, reaches: "server", because: "the range is not named" },
      { who: "app", to: "client", port: 9100, reaches: outbound, because: "the port is named" },
      { who: "other", to: "other", port: 8080, reaches: "server", because: "the group is not named" },
    ],
  },
  {
    name: "DNS to the servers in use",
    config: { outboundRanges: "*", captureDns: true, groupsExcluded: "5000" },
    cases: [
      { who: "app", to: "client", port: 53, protocol: "udp", reaches: "agent", because: "it is a server in use" },
      { who: "app", to: "client", port: 53, reaches: "agent", because: "DNS over TCP too" },
      { who: "app", to: "other", port: 53, protocol: "udp", reaches: "dns server", because: "it is no server in use" },
      { who: "app", to: "other", port: 53, reaches: outbound, because: "then it is traffic like any other" },
      { who: "proxy", to: "client", port: 53, protocol: "udp", reaches: "dns server", because: "the agent asks" },
      { who: "proxy", to: "client", port: 53, reaches: "dns server", because: "the agent asks by TCP" },
      {
        who: "other",
        to: "client",
        port: 53,
        protocol: "udp",
        reaches: "dns server",
        because: "the group is excluded",
      },
    ],
  },
  {
    name: "all DNS",
    config: { outboundRanges: "*", captureDns: true, captureAllDns: true },
    cases: [
      { who: "app", to: "other", port: 53, protocol: "udp", reaches: "agent", because: "all DNS is redirected" },
      { who: "app", to: "other", port: 53, reaches: "agent", because: "by TCP too" },
      { who: "app", to: "localhost", port: 53, protocol: "udp", reaches: "agent", because: "a local server too" },
      { who: "proxy", to: "other", port: 53, protocol: "udp", reaches: "dns server", because: "the agent asks" },
    ],
  },
  {
    name: "all DNS, to an agent that answers on another port",
    config: { outboundRanges: "*", captureDns: true, captureAllDns: true, dnsAddress: "localhost:5353" },
    cases: [
      { who: "app", to: "other", port: 53, protocol: "udp", reaches: "agent elsewhere", because: "it answers there" },
      { who: "app", to: "other", port: 53, reaches: "agent elsewhere", because: "by TCP too" },
      { who: "proxy", to: "other", port: 53, protocol: "udp", reaches: "dns server", because: "the agent asks" },
    ],
  },
  {
    name: "devices",
    config: {
      inboundPorts: "*",
      outboundRanges: "*",
      interfacesExcluded: "eth0",
      captureDns: true,
      captureAllDns: true,
    },
    cases: [
      { who: "client", to: "pod", port: 8080, reaches: "app", because: "the device is excluded" },
      { who: "app", to: "client", port: 8080, reaches: "server", because: "the device is excluded" },
      { who: "app", to: "client", port: 53, protocol: "udp", reaches: "dns server", because: "the device is excluded" },
      { who: "proxy", to: "pod", port: 8080, reaches: inbound, because: "the loopback device is not" },
    ],
  },
  {
    name: "a virtual machine behind eth0",
    config: { inboundPorts: "*", outboundRanges: "*", outboundPortsExcluded: "9000", virtualInterfaces: "eth0" },
    cases: [
      { who: "client", to: "pod", port: 8080, reaches: outbound, because: "what the machine sends is outbound" },
      { who: "client", to: "pod", port: 9000, reaches: "app", because: "with the exceptions of outbound traffic" },
    ],
  },
  {
    name: "localhost included by range",
    config: { outboundRanges: "127.0.0.0/8,::1/128,10.77.0.2/32,fd77::2/128" },
    cases: [
      { who: "app", to: "pod", port: 8080, reaches: outbound, because: "an own address is named, and so is loopback" },
      { who: "app", to: "localhost", port: 8080, reaches: "app", because: "localhost itself never is" },
    ],
  },
  {
    name: "nothing",
    config: {},
    cases: [
      { who: "client", to: "pod", port: 8080, reaches: "app", because: "no inbound port is named" },
      { who: "app", to: "client", port: 8080, reaches: "server", because: "no range is named" },
      { who: "proxy", to: "pod", port: 8080, reaches: inbound, because: "the proxy's calls to itself always are" },
    ],
  },
];

/** Everything that listens, in both families. */
async function furnish(cable: Cable) {
  const proxy = cable.actor("pod", users.proxy);
  const app = cable.actor("pod", users.app);
  const server = cable.actor("client", users.root);
  for (const any of ["0.0.0.0", "::"]) {
    await proxy.listen(outbound, any, 15001);
    await proxy.listen(inbound, any, 15006);
    await proxy.listen("tunnel", any, 15008);
    const localhost = any === "::" ? "::1" : "127.0.0.1";
    await proxy.listen("agent", localhost, 15053);
    await proxy.listen("agent", localhost, 15053, { protocol: "udp" });
    await proxy.listen("agent elsewhere", localhost, 5353);
    await proxy.listen("agent elsewhere", localhost, 5353, { protocol: "udp" });
    for (const port of [7000, 8080, 9000]) await app.listen("app", any, port);
    for (const port of [8080, 9100]) await server.listen("server", any, port);
    await server.listen("dns server", any, 53);
    // Bound to each address, so that a datagram is answered from the one that was asked.
    const { client, other } = addresses[any === "::" ? 6 : 4];
    for (const host of [client, other]) {
      await server.listen("server", host, 5000, { protocol: "udp" });
      await server.listen("dns server", host, 53, { protocol: "udp" });
    }
  }
  return {
    proxy,
    app,
    client: server,
    root: cable.actor("pod", users.root),
    proxyGroup: cable.actor("pod", users.proxyGroup),
    other: cable.actor("pod", users.other),
  };
}

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`REDIRECT on ${kind}: who reaches whom through what`, async (t) => {
    await using cable = await Cable.lay();
    const actors = await furnish(cable);
    for (const scenario of scenarios) {
      await applyIn(cable.pod, kind, scenario.config, { force: true });
      for (const family of [4, 6] as const) {
        const hosts: Record<string, string> = { ...addresses[family], localhost: family === 4 ? "127.0.0.1" : "::1" };
        for (const { who, to, port, protocol = "tcp", reaches, because } of scenario.cases) {
          await t.step(
            `IPv${family}, ${scenario.name}: ${who} to ${to} ${protocol} ${port} reaches ${reaches}: ${because}`,
            async () => {
              const host = hosts[to] ?? to;
              const said: Dialled = await actors[who].dial(host, port, { protocol });
              assert.equal(said.answer?.name ?? said.error, reaches);
              // The proxy learns where the connection was meant to go.
              if (/proxy$/.test(reaches)) assert.deepEqual(said.answer?.original, [host, port]);
            },
          );
        }
      }
    }
  }, [kind]);
}
