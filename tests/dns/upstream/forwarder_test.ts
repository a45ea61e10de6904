import assert from "node:assert/strict";
import { Question, readQuestion } from "../../../lib/dns/packet/question.ts";
import { AVOID_MS, Forwarder, MAX_WAITING } from "../../../lib/dns/upstream/forwarder.ts";
import { MAX_STALE_MS, RECHECK_MS } from "../../../lib/dns/upstream/stale.ts";
import type { ExchangeEvents, NameServer, UpstreamTransport } from "../../../lib/dns/upstream/transport.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { query, reply } from "../support/ask.ts";
import { answerTo } from "../support/upstream.ts";

const a: NameServer = { hostname: "10.0.0.1", port: 53 };
const b: NameServer = { hostname: "10.0.0.2", port: 53 };

/** A transport played by a test: times and servers of questions, and the test's answers. */
function stage({ servers = [a, b], parallel = false } = {}) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const live: { query: Uint8Array; events: ExchangeEvents; closed: boolean }[] = [];
  const transport: UpstreamTransport = {
    start(query, events) {
      const one = { query, events, closed: false };
      live.push(one);
      return {
        ask: (server) => void asked.push(`${clock.monotonic()} ${server.hostname}`),
        close: () => void (one.closed = true),
      };
    },
    isOwn: () => false,
    close() {},
  };
  const metrics = createMetrics("pilot-agent");
  const log = createLog([], { ...defaultLogOptions, targets: [] }).scope("dns");
  // Servers keep the given order: places are drawn in turn.
  let drawn = 0;
  const random = () => (drawn = (drawn + 0.001) % 1);
  const forwarder = new Forwarder({ udp: transport, tcp: transport, parallel, clock, log, metrics, random });
  forwarder.use(servers);
  const results: string[] = [];
  const ask = (name = "www.example.org", id = 1, udp = true) => {
    const packet = query({ name, id });
    const question = new Question();
    readQuestion(packet, packet.length, question);
    forwarder.forward(packet, question, udp, (message) => {
      const said = message === undefined ? "none" : [reply(message).rcode, ...reply(message).answers].join(" ");
      results.push(`${clock.monotonic()} ${said}`);
    });
  };
  const say = (
    server: NameServer,
    what: readonly string[] | "NXDOMAIN" | "SERVFAIL" | "REFUSED",
    which = live.length - 1,
  ) => live[which]!.events.answered(server, answerTo(live[which]!.query, what));
  const metric = async (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, "m").exec((await metrics.scrape()).body)?.[1]);
  return { clock, asked, live, forwarder, results, ask, say, metric };
}

Deno.test("in turn: the next server is asked when one is silent for 0.4 s, and either's answer counts", async () => {
  const s = stage();
  s.ask();
  assert.deepEqual(s.asked, ["0 10.0.0.1"]);
  await s.clock.advance(400);
  assert.deepEqual(s.asked, ["0 10.0.0.1", "400 10.0.0.2"]);
  s.say(a, ["1.2.3.4"]);
  assert.deepEqual(s.results, ["400 NOERROR www.example.org A 1.2.3.4"]);
  assert.equal(s.live[0]!.closed, true);
  s.forwarder.close();
});

Deno.test("in turn: a server that fails or refuses is left at once; NXDOMAIN is an answer", () => {
  const s = stage();
  s.ask();
  s.say(a, "REFUSED");
  assert.deepEqual(s.asked, ["0 10.0.0.1", "0 10.0.0.2"]);
  s.say(b, "NXDOMAIN");
  assert.deepEqual(s.results, ["0 NXDOMAIN"]);
  s.forwarder.close();
});

Deno.test("a server that gave no answer is asked last for a while", async () => {
  const s = stage();
  s.ask("one.example");
  await s.clock.advance(400);
  s.say(b, ["1.2.3.4"]);
  s.ask("two.example");
  s.say(b, ["1.2.3.4"]);
  await s.clock.advance(AVOID_MS);
  s.ask("three.example");
  assert.deepEqual(s.asked, ["0 10.0.0.1", "400 10.0.0.2", "400 10.0.0.2", "10400 10.0.0.1"]);
  s.forwarder.close();
});

Deno.test("raced: all servers are asked at once, the first server with an answer wins, a refusing server does not", () => {
  const s = stage({ parallel: true });
  s.ask();
  assert.deepEqual(s.asked, ["0 10.0.0.1", "0 10.0.0.2"]);
  s.say(a, "SERVFAIL");
  assert.deepEqual(s.results, []);
  s.say(b, ["1.2.3.4"]);
  assert.deepEqual(s.results, ["0 NOERROR www.example.org A 1.2.3.4"]);
  s.forwarder.close();
});

for (const parallel of [false, true]) {
  Deno.test(`the error of all servers is the client's answer too (${parallel ? "raced" : "in turn"})`, async () => {
    const s = stage({ parallel });
    s.ask();
    s.say(a, "REFUSED");
    s.say(b, "SERVFAIL");
    assert.deepEqual(s.results, ["0 REFUSED"]);
    assert.equal(await s.metric("dns_upstream_failures_total"), 1);
    s.forwarder.close();
  });
}

Deno.test("a question to the only server is sent again with growing pauses, and fails before a client gives up", async () => {
  const s = stage({ servers: [a] });
  s.ask();
  await s.clock.advance(6000);
  assert.deepEqual(s.asked, [0, 400, 1200, 2800].map((at) => `${at} 10.0.0.1`));
  assert.deepEqual(s.results, ["4500 none"]);
  assert.equal(await s.metric("dns_upstream_requests_total"), 1);
  assert.equal(await s.metric("dns_upstream_failures_total"), 1);
  assert.equal(await s.metric("dns_upstream_request_duration_seconds_sum"), 4.5);
  assert.equal(s.clock.pending(), 0, "no timer is left");
  s.forwarder.close();
});

Deno.test("three silent servers are all asked within a second, then again with longer pauses", async () => {
  const c: NameServer = { hostname: "10.0.0.3", port: 53 };
  const s = stage({ servers: [a, b, c] });
  s.ask();
  await s.clock.advance(6000);
  const order = [a, b, c, a, b, c, a].map(({ hostname }) => hostname);
  assert.deepEqual(s.asked, [0, 400, 800, 1200, 2000, 2800, 3600].map((at, i) => `${at} ${order[i]}`));
  assert.deepEqual(s.results, ["4500 none"]);
  s.forwarder.close();
});

Deno.test("in turn and raced: when every server refuses, the question fails at once", () => {
  for (const parallel of [false, true]) {
    const s = stage({ parallel });
    s.ask();
    for (const server of [a, b]) s.live[0]!.events.failed(server, "refused");
    assert.deepEqual(s.results, ["0 none"]);
    s.forwarder.close();
  }
});

Deno.test("the state of a server outlives a new resolv.conf that names it again", async () => {
  const s = stage();
  s.ask("one.example");
  await s.clock.advance(400);
  s.say(b, ["1.2.3.4"]);
  s.forwarder.use([{ ...a }, { ...b }]);
  s.ask("two.example");
  assert.deepEqual(s.asked.at(-1), "400 10.0.0.2", "the first is still avoided");
  s.forwarder.close();
});

Deno.test("over TCP nothing is asked twice: it does not get lost", async () => {
  const s = stage({ servers: [a] });
  s.ask("www.example.org", 1, false);
  await s.clock.advance(6000);
  assert.deepEqual(s.asked, ["0 10.0.0.1"]);
  assert.deepEqual(s.results, ["4500 none"]);
  s.forwarder.close();
});

Deno.test("equal questions under way are asked once; others, and other transports, are not equal", () => {
  const s = stage();
  s.ask("www.example.org", 1);
  s.ask("www.example.org", 2);
  assert.equal(s.asked.length, 1);
  s.ask("ftp.example.org", 3);
  s.ask("www.example.org", 4, false);
  assert.equal(s.asked.length, 3);
  s.forwarder.close();
  assert.deepEqual(s.results, ["0 none", "0 none", "0 none", "0 none"], "closing ends what is under way");
});

Deno.test("an answer from before is given after 1.8 s of silence, at once when servers have just failed", async () => {
  const s = stage({ servers: [a] });
  s.ask();
  s.say(a, ["1.2.3.4"]);
  s.results.length = 0;
  s.ask();
  await s.clock.advance(1850);
  assert.deepEqual(s.results, ["1800 NOERROR www.example.org A 1.2.3.4"]);
  s.ask();
  await s.clock.advance(50);
  assert.equal(s.results.length, 2, "the same question need not wait now");
  await s.clock.advance(2600);
  s.ask();
  assert.deepEqual(s.results.slice(2), ["4500 NOERROR www.example.org A 1.2.3.4"]);
  assert.equal(s.asked.length, 1 + 4, "servers that have just failed are not asked again at once");
  await s.clock.advance(RECHECK_MS);
  s.ask();
  assert.equal(s.asked.length, 6);
  s.say(a, ["5.6.7.8"]);
  assert.equal(s.results.at(-1), "34500 NOERROR www.example.org A 5.6.7.8");
  s.forwarder.close();
});

Deno.test("an answer from before is good for a day", async () => {
  const s = stage({ servers: [a] });
  s.ask();
  s.say(a, ["1.2.3.4"]);
  await s.clock.advance(MAX_STALE_MS + 1);
  s.ask();
  await s.clock.advance(6000);
  assert.match(s.results.at(-1)!, /none$/);
  s.forwarder.close();
});

Deno.test("without name servers the question fails at once", () => {
  const s = stage({ servers: [] });
  s.ask();
  assert.deepEqual(s.results, ["0 none"]);
  s.forwarder.close();
});

Deno.test("more questions than may wait are refused, and room comes back", () => {
  const s = stage({ servers: [a] });
  for (let i = 0; i <= MAX_WAITING; i++) s.ask(`n${i}.example`);
  assert.deepEqual(s.results, ["0 none"]);
  s.say(a, ["1.2.3.4"], 0);
  s.ask("again.example");
  assert.equal(s.results.length, 2);
  s.forwarder.close();
});
