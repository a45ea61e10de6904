import assert from "node:assert/strict";
import { SILENCE_MS } from "../../lib/dns/upstream/contact.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { query, reply, sendTcp, sendUdp } from "./support/ask.ts";
import { missing, Namespace, sh } from "./support/namespace.ts";
import { startServer, type TestServer } from "./support/server.ts";
import { closedPort, startUpstream } from "./support/upstream.ts";

const www = query({ name: "www.example.org" });

/** Waits until so many questions were passed on; only this thread's own reading of sockets takes time. */
async function passedOn(test: TestServer, count: number): Promise<void> {
  while (await test.metric("dns_upstream_requests_total") < count) await new Promise((done) => setTimeout(done, 1));
}

/** Another address of the loopback without a listener at the same port. */
const besides = ({ hostname, port }: { hostname: string; port: number }) => ({
  hostname: hostname.replace(/\d+$/, (last) => String((Number(last) % 254) + 1)),
  port,
});

for (const parallel of [false, true]) {
  const servers = parallel ? 2 : 1;
  Deno.test(`UDP: SERVFAIL as soon as ${servers === 1 ? "the only server has" : "both servers have"} refused`, async () => {
    const clock = createFakeClock();
    const first = closedPort();
    using test = await startServer(
      { servers: [first, besides(first)].slice(0, servers).map(({ hostname }) => hostname), port: first.port },
      { settings: { DNS_PROXY_ADDR: "localhost:0", DNS_FORWARD_PARALLEL: parallel }, clock },
    );
    const answer = sendUdp(test.at, www);
    await passedOn(test, 1);
    await clock.advance(SILENCE_MS);
    assert.equal(reply((await answer)!).rcode, "SERVFAIL");
    assert.equal(reply((await sendUdp(test.at, www))!).rcode, "SERVFAIL", "the next one waits for nothing");
    assert.equal(await test.metric("dns_upstream_failures_total"), 2);
    assert.equal(clock.monotonic(), SILENCE_MS, "no other time has passed");
  });
}

Deno.test("UDP: a server that refuses is followed by the next one at once, and comes last from then on", async () => {
  const clock = createFakeClock();
  const refusing = closedPort();
  const good = startUpstream(besides(refusing).hostname, refusing.port, { "*": ["1.1.1.1"] });
  using test = await startServer(
    { servers: [refusing.hostname, good.hostname], port: refusing.port },
    { clock, random: () => 0 },
  );
  const answer = sendUdp(test.at, www);
  await passedOn(test, 1);
  await clock.advance(SILENCE_MS);
  assert.deepEqual(reply((await answer)!).answers, ["www.example.org A 1.1.1.1"]);
  assert.deepEqual(reply((await sendUdp(test.at, www))!).answers, ["www.example.org A 1.1.1.1"]);
  assert.equal(clock.monotonic(), SILENCE_MS, "no other time has passed");
  good.close();
});

Deno.test("TCP: SERVFAIL at once when every server refuses", async () => {
  const clock = createFakeClock();
  const first = closedPort();
  using test = await startServer({ servers: [first.hostname, besides(first).hostname], port: first.port }, { clock });
  const [answer] = await sendTcp(test.at, [www]);
  assert.equal(reply(answer!).rcode, "SERVFAIL");
  assert.equal(clock.monotonic(), 0, "no time has passed");
});

const reason = missing(["ip", "dig", "iptables"]);
Deno.test({
  name: "a resolver whose name server is rejected on the way learns it within its own patience" +
    (reason === undefined ? "" : ` (ignored: ${reason})`),
  ignore: reason !== undefined,
  async fn() {
    const search = "search ns1.svc.cluster.local\n";
    await using namespace = await Namespace.make({
      address: "127.0.0.1:53",
      resolvConf: `nameserver 127.0.0.1\n${search}`,
      behind: `nameserver 10.96.0.10\nnameserver fd96::10\n${search}`,
      zone: {},
    }, async (name) => {
      // Like kube-proxy with a service without endpoints.
      await sh("ip", ["-n", name, "route", "add", "default", "dev", "eth0"]);
      await sh("ip", ["-n", name, "-6", "route", "add", "default", "dev", "eth0"]);
      for (const [tool, address] of [["iptables", "10.96.0.10"], ["ip6tables", "fd96::10"]] as const) {
        await sh("ip", ["netns", "exec", name, tool, "-A", "OUTPUT", "-d", address, "-j", "REJECT"]);
      }
    });
    for (const transport of ["+notcp", "+tcp"]) {
      const said = await namespace.run("dig", [transport, "+tries=1", "+time=4", "www.example.org"]);
      assert.match(said, /status: SERVFAIL/);
    }
  },
});
