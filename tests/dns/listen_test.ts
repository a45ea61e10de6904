import assert from "node:assert/strict";
import { listenAddresses, listenPlan } from "../../lib/dns/listen_plan.ts";
import { parseResolvConf } from "../../lib/dns/resolv_conf.ts";
import { askBoth } from "./support/ask.ts";
import { silentLog, startServer } from "./support/server.ts";
import { startUpstream } from "./support/upstream.ts";

Deno.test("DNS_PROXY_ADDR: host and port, the default when empty, the default instead of port 53 without root", () => {
  assert.deepEqual(listenPlan("", false), { address: { hostname: "localhost", port: 15053 }, direct: false });
  assert.deepEqual(listenPlan("10.0.0.1:5300", true), { address: { hostname: "10.0.0.1", port: 5300 }, direct: false });
  assert.deepEqual(listenPlan("[::1]:53", true), { address: { hostname: "::1", port: 53 }, direct: true });
  assert.deepEqual(listenPlan(":53", true).address, { hostname: "0.0.0.0", port: 53 });
  const without = listenPlan("0.0.0.0:53", false);
  assert.deepEqual([without.address, without.direct], [{ hostname: "localhost", port: 15053 }, false]);
  assert.match(without.warning!, /needs root/);
});

for (const text of ["localhost", "localhost:", "localhost:70000", "::1:53", "a b:c", "[::1]"]) {
  Deno.test(`DNS_PROXY_ADDR: ${JSON.stringify(text)} is refused and named`, () => {
    assert.throws(
      () => listenPlan(text, true),
      (error: Error) => error.message.startsWith(`DNS_PROXY_ADDR: got "${text}"`),
    );
  });
}

Deno.test("localhost is the loopback of each family that name servers have", () => {
  const hosts = (hostname: string, servers: string[]) =>
    listenAddresses({ hostname, port: 1 }, servers).map((a) => a.hostname);
  assert.deepEqual(hosts("localhost", []), ["127.0.0.1"]);
  assert.deepEqual(hosts("localhost", ["10.0.0.1"]), ["127.0.0.1"]);
  assert.deepEqual(hosts("localhost", ["fd00::1"]), ["::1"]);
  assert.deepEqual(hosts("localhost", ["10.0.0.1", "fd00::1"]), ["127.0.0.1", "::1"]);
  assert.deepEqual(hosts("10.0.0.9", ["fd00::1"]), ["10.0.0.9"]);
});

Deno.test("resolv.conf: servers once each, the last search line, comments left out, words that are no address named", () => {
  const text = "# a\nnameserver 10.0.0.1 ; b\nnameserver fd00::1\nnameserver 10.0.0.1\nsearch x.y\ndomain z\n" +
    "search ns1.svc.cluster.local\tsvc.cluster.local\noptions ndots:5\nnameserver fe80::1%eth0\nnameserver\n";
  const conf = parseResolvConf(text);
  assert.deepEqual(conf.servers, ["10.0.0.1", "fd00::1"]);
  assert.deepEqual(conf.search, ["ns1.svc.cluster.local", "svc.cluster.local"]);
  assert.deepEqual(conf.findings, [
    'line 9: nameserver: got "fe80::1%eth0", expected an address without zone',
    'line 10: nameserver: got "", expected an address without zone',
  ]);
  assert.deepEqual(parseResolvConf("").servers, []);
});

Deno.test("resolv.conf: an address has one spelling, however it is written", () => {
  const spellings = ["FD00::000A", "fd00:0:0::a", "::FFFF:10.0.0.1", "10.0.0.1", "2001:db8:0:0:1:0:0:1"];
  const conf = parseResolvConf(spellings.map((text) => `nameserver ${text}\n`).join(""));
  assert.deepEqual(conf.servers, ["fd00::a", "10.0.0.1", "2001:db8::1:0:0:1"]);
  assert.deepEqual(conf.findings, []);
});

Deno.test("an address in use is an error that names the address, and nothing stays open", async () => {
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const settings = { DNS_PROXY_ADDR: `127.0.0.1:${taken.addr.port}`, DNS_FORWARD_PARALLEL: false };
  await assert.rejects(startServer({}, { settings }), /DNS_PROXY_ADDR: cannot listen on 127.0.0.1 port \d+/);
  taken.close();
});

Deno.test("on port 53 as root the other resolv.conf counts, and questions before the first table go upstream", async () => {
  const upstream = startUpstream("127.0.0.1", 0, { "*": ["1.1.1.1"] });
  const behind = await Deno.makeTempFile();
  await Deno.writeTextFile(behind, "nameserver 127.0.0.1\n");
  const listening = tryListen53();
  if (listening !== undefined) {
    using test = await startServer({ servers: ["127.0.0.9"], port: upstream.port }, {
      settings: { DNS_PROXY_ADDR: `${listening}:53`, DNS_FORWARD_PARALLEL: true },
      root: true,
      resolvConfBehind: behind,
      log: silentLog(),
    }, null);
    assert.deepEqual((await askBoth(test.at, { name: "productpage" })).udp.answers, ["productpage A 1.1.1.1"]);
    test.server.update({});
    assert.deepEqual((await askBoth(test.at, { name: "productpage" })).tcp.answers, ["productpage A 1.1.1.1"]);
  } else {
    assert.deepEqual(listenPlan("127.0.0.1:53", true).direct, true);
  }
  await Deno.remove(behind);
  upstream.close();
});

/** An address of the loopback with a free port 53; undefined without the right to listen there. */
function tryListen53(): string | undefined {
  const hostname = `127.${53 + Math.floor(Math.random() * 100)}.${Math.floor(Math.random() * 250)}.1`;
  try {
    Deno.listen({ hostname, port: 53 }).close();
    return hostname;
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}
