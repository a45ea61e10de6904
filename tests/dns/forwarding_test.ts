import assert from "node:assert/strict";
import { UdpTransport } from "../../lib/dns/upstream/udp.ts";
import { systemClock } from "../../lib/kernel/time/clock.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { askBoth, query, reply, sendTcp, sendUdp } from "./support/ask.ts";
import { silentLog, startServer } from "./support/server.ts";
import { answerTo, type FakeUpstream, startUpstream, startUpstreams } from "./support/upstream.ts";
import { until } from "../patience.ts";

/** Addresses of a large answer: more than fit into 512 bytes. */
const giant = Array.from({ length: 64 }, (_, i) => `240.0.0.${i}`);

Deno.test("questions for other names go upstream by the transport that they came by, and come back with their ID", async () => {
  const upstream = startUpstream("127.0.0.1", 0, { "www.bing.com": ["1.1.1.1"] });
  using test = await startServer({ servers: ["127.0.0.1"], port: upstream.port });
  for (const reply of Object.values(await askBoth(test.at, { name: "www.Bing.com", id: 99 }))) {
    assert.equal(reply.rcode, "NOERROR");
    assert.equal(reply.bytes[1], 99);
    assert.deepEqual(reply.answers, ["www.Bing.com A 1.1.1.1"]);
    assert.ok(!reply.flags.includes("aa"), "it is another server's answer");
  }
  assert.deepEqual(upstream.asked.sort(), ["tcp www.Bing.com A", "udp www.Bing.com A"]);
  assert.equal(await test.metric("dns_upstream_requests_total"), 2);
  assert.equal(await test.metric("dns_upstream_request_duration_seconds_count"), 2);
  const { udp } = await askBoth(test.at, { name: "www.unknown.com" });
  assert.equal(udp.rcode, "NXDOMAIN");
  upstream.close();
});

Deno.test("other types of known names go upstream, and 'no such name' becomes 'no such record'", async () => {
  const upstream = startUpstream();
  using test = await startServer({ servers: ["127.0.0.1"], port: upstream.port });
  for (const type of ["TXT", "MX", "SRV", "PTR", "NS", "HTTPS"]) {
    const { udp } = await askBoth(test.at, { name: "productpage.ns1", type });
    assert.equal(udp.rcode, "NOERROR", type);
    assert.deepEqual(udp.answers, []);
  }
  assert.equal(upstream.asked.length, 12);
  assert.equal((await askBoth(test.at, { name: "nobody.ns1", type: "TXT" })).udp.rcode, "NXDOMAIN");
  upstream.close();
});

Deno.test("a large answer is cut to what the client takes, and whole over TCP", async () => {
  const upstream = startUpstream("127.0.0.1", 0, { giant });
  const ips = { ips: giant };
  using test = await startServer({ servers: ["127.0.0.1"], port: upstream.port }, {}, { "known.giant": ips });
  for (const name of ["giant", "known.giant"]) {
    const { udp, tcp } = await askBoth(test.at, { name });
    assert.ok(udp.flags.includes("tc"));
    assert.ok(udp.bytes.length <= 512 && udp.bytes.length > 512 - 32, `${udp.bytes.length} bytes of 512`);
    const record = name === "giant" ? name.length + 16 : 16; // the name server of `giant` writes names in full
    assert.equal(udp.answers.length, Math.floor((512 - 12 - name.length - 2 - 4) / record), "as many as fit");
    assert.deepEqual([...tcp.answers].sort(), giant.map((ip) => `${name} A ${ip}`).sort());
    assert.ok(!tcp.flags.includes("tc"));
    const wide = await askBoth(test.at, { name, udpSize: 2000 });
    assert.equal(wide.udp.answers.length, 64);
    assert.ok(!wide.udp.flags.includes("tc"));
  }
  upstream.close();
});

Deno.test("no answer over UDP is larger than 4096 bytes, even if a client accepts more", async () => {
  const many = Array.from({ length: 1000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  const upstream = startUpstream("127.0.0.1", 0, { many });
  using test = await startServer({ servers: ["127.0.0.1"], port: upstream.port }, {}, { "known.many": { ips: many } });
  for (const name of ["many", "known.many"]) {
    const { udp, tcp } = await askBoth(test.at, { name, udpSize: 65535 });
    assert.ok(udp.bytes.length <= 4096 && udp.bytes.length > 4000);
    assert.ok(udp.flags.includes("tc"));
    assert.equal(tcp.answers.length, 1000);
  }
  upstream.close();
});

Deno.test("after a silent server the next one is asked within half a second, also one of the other family", async () => {
  const [silent, second] = startUpstreams({
    "127.0.0.1": { "*": "silence" },
    "::1": { "www.bing.com": ["1.1.1.1"] },
  }) as [FakeUpstream, FakeUpstream];
  const clock = createFakeClock();
  using test = await startServer({ servers: ["127.0.0.1", "::1"], port: silent.port }, { clock });
  assert.deepEqual(test.server.listening.map(({ address }) => address.hostname), [
    "127.0.0.1",
    "127.0.0.1",
    "::1",
    "::1",
  ]);
  for (const { address, transport } of test.server.listening) {
    const before = silent.asked.length + second.asked.length;
    const bytes = query({ name: "www.bing.com" });
    const answered = transport === "udp" ? sendUdp(address, bytes) : sendTcp(address, [bytes]).then(([one]) => one);
    while (silent.asked.length + second.asked.length === before) await new Promise((resolve) => setTimeout(resolve, 1));
    await clock.advance(500);
    assert.deepEqual(reply((await answered)!).answers, ["www.bing.com A 1.1.1.1"]);
  }
  silent.close();
  second.close();
});

Deno.test("a name server is believed however resolv.conf spells its address", async () => {
  const upstream = startUpstream("::1", 0, { "www.bing.com": ["1.1.1.1"] });
  using test = await startServer({ servers: ["0:0::0001"], port: upstream.port });
  const { address } = test.server.listening[0]!;
  const answer = await sendUdp(address, query({ name: "www.bing.com" }));
  assert.deepEqual(answer && reply(answer).answers, ["www.bing.com A 1.1.1.1"]);
  upstream.close();
});

Deno.test("raced: a silent and a refusing server cost nothing while another server answers", async () => {
  const all = startUpstreams({
    "127.0.0.1": { "*": "silence" },
    "127.0.0.2": { "*": "REFUSED" },
    "127.0.0.3": { "*": ["1.1.1.1"] },
  });
  using test = await startServer({ servers: all.map(({ hostname }) => hostname), port: all[0]!.port }, {
    settings: { DNS_PROXY_ADDR: "localhost:0", DNS_FORWARD_PARALLEL: true },
    clock: createFakeClock(), // Nothing waits for time: the clock stands still.
  });
  const { udp, tcp } = await askBoth(test.at, { name: "www.bing.com" });
  assert.deepEqual([udp.answers, tcp.answers], [["www.bing.com A 1.1.1.1"], ["www.bing.com A 1.1.1.1"]]);
  for (const { hostname, asked } of all) {
    await until(`${hostname} is asked, too`, () => asked.includes("udp www.bing.com A"));
  }
  for (const one of all) one.close();
});

Deno.test("an answer from another server than was asked, or to another question, is not believed", async () => {
  const forged = ["6.6.6.6"];
  const upstream = startUpstream("127.0.0.1", 0, {
    "www.bing.com": (asked) => {
      const other = answerTo(query({ name: "www.evil.com", id: asked[0]! * 256 + asked[1]! }), forged);
      return other;
    },
    "other-id.com": (asked) => {
      const answer = answerTo(asked, forged);
      answer[0]! ^= 1;
      return answer;
    },
  });
  using test = await startServer({ servers: ["127.0.0.1"], port: upstream.port });
  for (const name of ["www.bing.com", "other-id.com"]) {
    assert.equal(await sendUdp(test.at, query({ name }), 300), undefined);
  }
  upstream.close();
});

Deno.test("resolv.conf is read again: new servers, new search domain; a missing file changes nothing", async () => {
  const [first, second] = startUpstreams({
    "127.0.0.1": { "*": ["1.1.1.1"] },
    "127.0.0.2": { "*": ["2.2.2.2"] },
  }) as [FakeUpstream, FakeUpstream];
  using test = await startServer({ servers: ["127.0.0.1"], port: first.port });
  const ask = async (name: string) => (await askBoth(test.at, { name })).udp.answers;
  assert.deepEqual(await ask("www.bing.com"), ["www.bing.com A 1.1.1.1"]);
  await Deno.writeTextFile(test.resolvConf, "nameserver 127.0.0.2\nsearch corp.example\n");
  await test.server.reread();
  assert.deepEqual(await ask("www.bing.com"), ["www.bing.com A 2.2.2.2"]);
  assert.deepEqual(await ask("www.google.com.corp.example"), [
    "www.google.com.corp.example CNAME www.google.com",
    "www.google.com A 1.1.1.1",
  ]);
  const text = await Deno.readTextFile(test.resolvConf);
  await Deno.remove(test.resolvConf);
  await test.server.reread();
  assert.deepEqual(await ask("www.bing.com"), ["www.bing.com A 2.2.2.2"]);
  await Deno.writeTextFile(test.resolvConf, text);
  first.close();
  second.close();
});

Deno.test("a name server that leads back here is found out instead of asked without end", async (t) => {
  await t.step("its own address is never asked", async () => {
    using test = await startServer({ servers: [] });
    await Deno.writeTextFile(test.resolvConf, "nameserver 127.0.0.1\n");
    using again = await startServer({ servers: ["127.0.0.1"], port: test.at.port }, {
      settings: { DNS_PROXY_ADDR: "127.0.0.1:0", DNS_FORWARD_PARALLEL: false },
    });
    // The second server asks the first, which has no name server: the answer comes at once.
    assert.equal((await askBoth(again.at, { name: "www.bing.com" })).udp.rcode, "SERVFAIL");
  });
  await t.step("its own question is known when it comes back by another way, such as redirection", async () => {
    const mirror = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
    const transport = new UdpTransport(systemClock, silentLog());
    const asked = query({ name: "www.bing.com" });
    const exchange = transport.start(asked, { answered() {}, failed() {} });
    exchange.ask({ hostname: "127.0.0.1", port: (mirror.addr as Deno.NetAddr).port });
    const [sent, from] = await mirror.receive();
    const { port } = from as Deno.NetAddr;
    assert.equal(transport.isOwn(port, sent), true);
    assert.equal(transport.isOwn(port + 1, sent), false);
    const other = query({ name: "www.google.com", id: sent[0]! * 256 + sent[1]! });
    assert.equal(transport.isOwn(port, other), false);
    exchange.close();
    assert.equal(transport.isOwn(port, sent), false, "what is answered is no longer under way");
    transport.close();
    mirror.close();
  });
});

Deno.test("before the first table the answer is SERVFAIL, so that no client believes that a name does not exist", async () => {
  const upstream = startUpstream("127.0.0.1", 0, { "*": ["1.1.1.1"] });
  using test = await startServer({ servers: ["127.0.0.1"], port: upstream.port }, {}, null);
  assert.equal(test.server.ready, false);
  for (const name of ["productpage", "www.bing.com"]) {
    for (const reply of Object.values(await askBoth(test.at, { name }))) assert.equal(reply.rcode, "SERVFAIL");
  }
  assert.deepEqual(upstream.asked, []);
  test.server.update({});
  assert.equal(test.server.ready, true);
  assert.deepEqual((await askBoth(test.at, { name: "www.bing.com" })).udp.answers, ["www.bing.com A 1.1.1.1"]);
  upstream.close();
});
