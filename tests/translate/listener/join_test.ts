/**
 * How contributions of several hosts share a listener: the table of `lib/translate/listener/outbound/join.ts`, row by
 * row.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { encode } from "../../../lib/pb/codec.ts";
import { joinContributions, type JoinedListener } from "../../../lib/translate/listener/outbound/join.ts";
import { mergeOutboundListener } from "../../../lib/translate/listener/outbound/merge.ts";
import type { ConflictReason } from "../../../lib/translate/listener/conflict.ts";
import { compareContributions, type ListenerContribution } from "../../../lib/translate/listener/contribution.ts";
import { meshReader } from "../mesh_reader.ts";
import { anyParts, everywhere, loopback } from "./make_contributions.ts";

/** The HTTP side, the hosts with chains, and the reasons of conflicts. */
function summary(joined: JoinedListener | undefined): [string, string[], ConflictReason[]] {
  assert.ok(joined);
  const http = joined.http ? (joined.http.sniffed ? "sniffed" : "all") : "none";
  return [http, joined.chains.map(({ chain }) => chain.proxy.statPrefix), joined.conflicts.map((c) => c.reason)];
}

const table: [string, ListenerContribution[], [string, string[], ConflictReason[]]][] = [
  ["HTTP alone", [everywhere("a", "HTTP")], ["sniffed", [], []]],
  ["HTTP on HTTP shares", [everywhere("a", "HTTP"), everywhere("b", "GRPC")], ["sniffed", [], []]],
  ["TCP beside sniffed HTTP", [everywhere("a", "HTTP"), everywhere("b", "TCP")], ["sniffed", ["b"], []]],
  ["HTTP beside TCP", [everywhere("a", "TCP"), everywhere("b", "HTTP")], ["sniffed", ["a"], []]],
  ["TCP on TCP loses", [everywhere("a", "TCP"), everywhere("b", "TCP")], ["none", ["a"], ["tcpOverTcp"]]],
  ["sniffed on TCP", [everywhere("a", "TCP"), everywhere("b", "Unsupported")], ["sniffed", ["a"], ["tcpOverTcp"]]],
  ["TCP on sniffed loses", [everywhere("a", "Unsupported"), everywhere("b", "TCP")], ["sniffed", ["a"], [
    "tcpOverTcp",
  ]]],
  ["sniffed on HTTP", [everywhere("a", "HTTP"), everywhere("b", "Unsupported")], ["sniffed", [], ["autoOverAuto"]]],
  ["HTTP on sniffed", [everywhere("a", "Unsupported"), everywhere("b", "HTTP")], ["sniffed", ["a"], []]],
  ["sniffed twice", [everywhere("a", "Unsupported"), everywhere("b", "Unsupported")], [
    "sniffed",
    ["a"],
    ["autoOverAuto"],
  ]],
  ["MySQL on HTTP", [everywhere("a", "HTTP"), everywhere("b", "MySQL")], ["sniffed", [], ["serverSpeaksFirst"]]],
  ["HTTP on Mongo", [everywhere("a", "Mongo"), everywhere("b", "HTTP")], ["none", ["a"], ["serverSpeaksFirst"]]],
  ["TCP on MySQL", [everywhere("a", "MySQL"), everywhere("b", "TCP")], ["none", ["a"], ["serverSpeaksFirst"]]],
  ["loopback: TCP on HTTP", [loopback("a", "HTTP"), loopback("b", "TCP")], ["all", [], ["tcpOverHttp"]]],
  ["loopback: HTTP on TCP", [loopback("a", "TCP"), loopback("b", "HTTP")], ["none", ["a"], ["httpOverTcp"]]],
  ["loopback: sniffed on HTTP", [loopback("a", "HTTP"), loopback("b", "Unsupported")], ["sniffed", ["b"], []]],
  ["loopback: HTTP on sniffed", [loopback("a", "Unsupported"), loopback("b", "HTTP")], ["sniffed", ["a"], []]],
];

for (const [name, contributions, expected] of table) {
  Deno.test(`joining: ${name}`, () => assert.deepEqual(summary(joinContributions(contributions)), expected));
}

Deno.test("the port of an egress listener takes no host of a later listener, and this is not a conflict", () => {
  const own = everywhere("a", "HTTP", { ownPort: true });
  const joined = joinContributions([own, everywhere("b", "TCP", { egress: 1 })]);
  assert.deepEqual(summary(joined), ["sniffed", [], []]);
});

Deno.test("gRPC-Web is understood when any host of the port speaks it, also a younger one", () => {
  assert.equal(joinContributions([everywhere("a", "HTTP"), everywhere("b", "GRPC-Web")])?.http?.grpcWeb, true);
});

Deno.test("a TLS host that finds its address taken is still reached by its name", () => {
  const chain = {
    sni: [],
    cidrs: [],
    fallbackSni: ["b"],
    proxy: { statPrefix: "b", clusters: [{ name: "b", weight: 1 }] },
  };
  const joined = joinContributions([everywhere("a", "TLS"), everywhere("b", "TLS", { chains: [chain] })]);
  assert.deepEqual(joined?.chains.map(({ match }) => match.serverNames), [[], ["b"]]);
  assert.deepEqual(joined?.conflicts, []);
});

Deno.test("if a part of a chain's match is taken, the chain keeps the free parts, and the conflict is reported", () => {
  const proxyTo = (name: string) => ({ statPrefix: "p", clusters: [{ name, weight: 1 }] });
  const of = (hostname: string, sni: string[], cidrs: string[], to: string) =>
    everywhere(hostname, "TLS", { chains: [{ sni, cidrs, proxy: proxyTo(to) }] });
  const first = of("a", ["x", "y"], ["10.0.0.0/8"], "c");
  const joined = joinContributions([first, of("b", ["y", "z"], ["10.9.9.9/8", "11.0.0.0/8"], "d")]);
  assert.deepEqual(joined?.chains.map(({ match }) => match), [
    { ranges: ["10.0.0.0/8"], serverNames: ["x", "y"] },
    { ranges: ["10.0.0.0/8"], serverNames: ["z"] },
    { ranges: ["11.0.0.0/8"], serverNames: ["y", "z"] },
  ]);
  assert.deepEqual(joined?.conflicts.map((c) => [c.reason, c.accepted, c.rejected]), [["tcpOverTcp", "a", "b"]]);
  // If both hosts send connections to the same destination, neither loses connections.
  const alike = joinContributions([first, of("b", ["y", "z"], ["10.9.9.9/8", "11.0.0.0/8"], "c")]);
  assert.deepEqual([alike?.chains.length, alike?.conflicts], [3, []]);
});

Deno.test("a server name that Envoy cannot match costs its chain alone", () => {
  const proxy = { statPrefix: "p", clusters: [{ name: "c", weight: 1 }] };
  const contribution = everywhere("a", "TLS", {
    chains: [{ sni: ["*foo.com"], cidrs: [], proxy }, { sni: ["ok"], cidrs: [], proxy }],
  });
  const joined = joinContributions([contribution]);
  assert.deepEqual(joined?.chains.map(({ match }) => match.serverNames), [["ok"]]);
  assert.deepEqual(joined?.conflicts.map((c) => c.reason), ["unsupportedServerName"]);
});

Deno.test("the order in which contributions arrive never changes the listener", () => {
  const read = meshReader();
  const merge = (contributions: readonly ListenerContribution[]) => {
    const { listener, ...rest } = mergeOutboundListener(read, "0.0.0.0_80", contributions);
    return { ...rest, bytes: listener && encode("envoy.config.listener.v3.Listener", listener).toHex() };
  };
  fc.assert(
    fc.property(
      anyParts.chain((contributions) =>
        fc.tuple(fc.constant(contributions), fc.shuffledSubarray(contributions, { minLength: contributions.length }))
      ),
      ([contributions, shuffled]) => assert.deepEqual(merge(shuffled), merge(contributions)),
    ),
  );
});

Deno.test("no two chains of a listener match the same connections, and every contribution is served, shared or reported", () => {
  fc.assert(fc.property(anyParts, (contributions) => {
    const sorted = [...contributions].sort(compareContributions);
    const joined = joinContributions(sorted);
    const pairs = (joined?.chains ?? []).flatMap(({ match: { ranges, serverNames } }) =>
      (ranges.length > 0 ? ranges : [""]).flatMap((r) =>
        (serverNames.length > 0 ? serverNames : [""]).map((s) => `${r}|${s}`)
      )
    );
    assert.equal(new Set(pairs).size, pairs.length);
    for (const contribution of sorted) {
      const left = joined!.first.ownPort && !contribution.ownPort;
      const shared = contribution.kind === "http" && joined!.http !== undefined;
      const served = joined!.chains.some(({ chain }) => chain.proxy.statPrefix === contribution.hostname);
      const reported = joined!.conflicts.some((c) => c.rejected === contribution.hostname);
      assert.ok(left || shared || served || reported, contribution.hostname);
    }
  }));
});
