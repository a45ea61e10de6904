/**
 * The server and the listener for each process, by REDIRECT: real sockets in network namespaces, on both back ends and
 * in both families. The listeners on the proxy's ports answer with their name and the intended destination.
 */
import assert from "node:assert/strict";
import { applyIn, type Changes } from "./support/inputs.ts";
import { addresses, Cable, type Dialled, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

type Side = keyof typeof users | "client";

/**
 * A case: a client, its destination, and the answering server. `original`: the listener knows the intended destination.
 */
interface Case {
  readonly from: Side;
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
      { from: "client", to: "pod", port: 8080, reaches: inbound, because: "inbound traffic is redirected" },
      { from: "client", to: "pod", port: 9000, reaches: "app", because: "the inbound port is excluded" },
      { from: "client", to: "pod", port: 15008, reaches: "tunnel", because: "the proxy listens there itself" },
      { from: "app", to: "client", port: 8080, reaches: outbound, because: "outbound traffic is redirected" },
      { from: "app", to: "client", port: 9100, reaches: "server", because: "the outbound port is excluded" },
      { from: "app", to: "other", port: 8080, reaches: "server", because: "the range is excluded" },
      { from: "app", to: "localhost", port: 8080, reaches: "app", because: "localhost is left alone" },
      { from: "app", to: "pod", port: 8080, reaches: "app", because: "an own address is left alone" },
      { from: "proxy", to: "client", port: 8080, reaches: "server", because: "it is the proxy's own traffic" },
      { from: "proxy", to: "localhost", port: 8080, reaches: "app", because: "the proxy reaches the application" },
      { from: "proxy", to: "pod", port: 8080, reaches: inbound, because: "the proxy chose its own workload" },
      { from: "proxy", to: "pod", port: 15008, reaches: "tunnel", because: "a tunnel to its own workload" },
      { from: "proxyGroup", to: "client", port: 8080, reaches: "server", because: "the proxy's group counts too" },
      { from: "proxyGroup", to: "pod", port: 8080, reaches: inbound, because: "also for its own workload" },
      { from: "other", to: "client", port: 8080, reaches: "server", because: "the group is excluded" },
      { from: "app", to: "client", port: 53, protocol: "udp", reaches: "dns server", because: "DNS is not asked for" },
      { from: "app", to: "client", port: 5000, protocol: "udp", reaches: "server", because: "UDP is left alone" },
    ],
  },
  {
    name: "only named ports and ranges",
    config: {
      inboundPorts: "8080,9000:9002",
      outboundRanges: "10.77.0.3/32,fd77::3",
      outboundPorts: "9100",
      groups: "1000,java",
    },
    cases: [
      { from: "client", to: "pod", port: 8080, reaches: inbound, because: "the port is named" },
      { from: "client", to: "pod", port: 9000, reaches: inbound, because: "the port is in a range that is named" },
      { from: "client", to: "pod", port: 7000, reaches: "app", because: "the port is not named" },
      { from: "app", to: "other", port: 8080, reaches: outbound, because: "the range is named" },
      { from: "app", to: "client", port: 8080, reaches: "server", because: "the range is not named" },
      { from: "app", to: "client", port: 9100, reaches: outbound, because: "the port is named" },
      { from: "other", to: "other", port: 8080, reaches: "server", because: "the group is not named" },
    ],
  },
  {
    name: "DNS to the servers in use",
    config: { outboundRanges: "*", captureDns: true, groupsExcluded: "5000" },
    cases: [
      { from: "app", to: "client", port: 53, protocol: "udp", reaches: "agent", because: "it is a server in use" },
      { from: "app", to: "client", port: 53, reaches: "agent", because: "DNS over TCP too" },
      { from: "app", to: "other", port: 53, protocol: "udp", reaches: "dns server", because: "it is no server in use" },
      { from: "app", to: "other", port: 53, reaches: outbound, because: "then it is traffic like any other" },
      { from: "proxy", to: "client", port: 53, protocol: "udp", reaches: "dns server", because: "the agent asks" },
      { from: "proxy", to: "client", port: 53, reaches: "dns server", because: "the agent asks by TCP" },
      {
        from: "other",
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
      { from: "app", to: "other", port: 53, protocol: "udp", reaches: "agent", because: "all DNS is redirected" },
      { from: "app", to: "other", port: 53, reaches: "agent", because: "by TCP too" },
      { from: "app", to: "localhost", port: 53, protocol: "udp", reaches: "agent", because: "a local server too" },
      { from: "proxy", to: "other", port: 53, protocol: "udp", reaches: "dns server", because: "the agent asks" },
    ],
  },
  {
    name: "all DNS, to an agent that answers on another port",
    config: { outboundRanges: "*", captureDns: true, captureAllDns: true, dnsAddress: "localhost:5353" },
    cases: [
      { from: "app", to: "other", port: 53, protocol: "udp", reaches: "agent elsewhere", because: "it answers there" },
      { from: "app", to: "other", port: 53, reaches: "agent elsewhere", because: "by TCP too" },
      { from: "proxy", to: "other", port: 53, protocol: "udp", reaches: "dns server", because: "the agent asks" },
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
      { from: "client", to: "pod", port: 8080, reaches: "app", because: "the device is excluded" },
      { from: "app", to: "client", port: 8080, reaches: "server", because: "the device is excluded" },
      {
        from: "app",
        to: "client",
        port: 53,
        protocol: "udp",
        reaches: "dns server",
        because: "the device is excluded",
      },
      { from: "proxy", to: "pod", port: 8080, reaches: inbound, because: "the loopback device is not" },
    ],
  },
  {
    name: "a virtual machine behind eth0",
    config: { inboundPorts: "*", outboundRanges: "*", outboundPortsExcluded: "9000", virtualInterfaces: "eth0" },
    cases: [
      { from: "client", to: "pod", port: 8080, reaches: outbound, because: "what the machine sends is outbound" },
      { from: "client", to: "pod", port: 9000, reaches: "app", because: "with the exceptions of outbound traffic" },
    ],
  },
  {
    name: "localhost included by range",
    config: { outboundRanges: "127.0.0.0/8,::1/128,10.77.0.2/32,fd77::2/128" },
    cases: [
      { from: "app", to: "pod", port: 8080, reaches: outbound, because: "an own address is named, and so is loopback" },
      { from: "app", to: "localhost", port: 8080, reaches: "app", because: "localhost itself never is" },
    ],
  },
  {
    name: "nothing",
    config: {},
    cases: [
      { from: "client", to: "pod", port: 8080, reaches: "app", because: "no inbound port is named" },
      { from: "app", to: "client", port: 8080, reaches: "server", because: "no range is named" },
      { from: "proxy", to: "pod", port: 8080, reaches: inbound, because: "the proxy's calls to itself always are" },
    ],
  },
];

/** All listeners, in both families. */
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
    // Bound to each address, so that the source of an answer is the address of the question.
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
  packetTest(`REDIRECT on ${kind}: every connection reaches the right server`, async (t) => {
    await using cable = await Cable.lay();
    const actors = await furnish(cable);
    for (const scenario of scenarios) {
      await applyIn(cable.pod, kind, scenario.config, { force: true });
      for (const family of [4, 6] as const) {
        const hosts: Record<string, string> = { ...addresses[family], localhost: family === 4 ? "127.0.0.1" : "::1" };
        for (const { from, to, port, protocol = "tcp", reaches, because } of scenario.cases) {
          await t.step(
            `IPv${family}, ${scenario.name}: ${from} to ${to} ${protocol} ${port} reaches ${reaches}: ${because}`,
            async () => {
              const host = hosts[to] ?? to;
              const said: Dialled = await actors[from].dial(host, port, { protocol });
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
