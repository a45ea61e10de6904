import assert from "node:assert/strict";
import fc from "fast-check";
import { simulate, type SimulatedRequest } from "../../lib/simulate/mod.ts";
import { TrafficDirection } from "../../proto/gen/enums.ts";
import type { envoy, google } from "../../proto/gen/types.ts";
import { envoyPath } from "../envoy/path.ts";
import { resourcesOf } from "./resources.ts";
import { exchange } from "../envoy/requests.ts";
import { startStatic } from "../envoy/static.ts";
import { seedOr } from "../properties.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type Match = envoy.config.listener.v3.FilterChainMatch;

const path = envoyPath();
const PORTS = [80, 81];
const DESTINATIONS = ["10.0.0.1", "10.0.1.1", "10.1.0.1", "127.0.0.1", "2001:db8::1"];
const SOURCES = ["10.0.0.1", "10.9.9.9", "127.0.0.1", "2001:db8::1", "2001:db8::2"];

const range = (cidr: string) => {
  const [address_prefix, length] = cidr.split("/");
  return { address_prefix: address_prefix!, prefix_len: { value: Number(length) } };
};
const few = <T>(...values: T[]) => fc.subarray(values, { minLength: 0, maxLength: 2 });
const sometimes = <T>(values: fc.Arbitrary<T[]>) => fc.oneof(fc.constant<T[]>([]), values);

const anyMatch: fc.Arbitrary<Match> = fc.record({
  port: fc.constantFrom(0, 0, 80),
  destinations: sometimes(few("10.0.0.0/8", "10.0.0.0/16", "10.0.0.1/32", "127.0.0.0/8", "2001:db8::/32")),
  names: sometimes(few("a.com", "*.a.com", "*.com", "b.a.com")),
  transport: fc.constantFrom("", "", "tls", "raw_buffer"),
  alpn: sometimes(few("http/1.1", "h2", "h2c", "x")),
  sourceType: fc.constantFrom(0, 0, 0, 1, 2),
  sources: sometimes(few("10.0.0.0/8", "10.0.0.1/32", "2001:db8::/64")),
  sourcePorts: sometimes(few(1000, 1001)),
}).map((m) => ({
  ...(m.port ? { destination_port: { value: m.port } } : {}),
  prefix_ranges: m.destinations.map(range),
  server_names: m.names,
  transport_protocol: m.transport,
  application_protocols: m.alpn,
  source_type: m.sourceType as 0 | 1 | 2,
  source_prefix_ranges: m.sources.map(range),
  source_ports: m.sourcePorts,
}));

const anyListener = fc.record({
  matches: fc.array(anyMatch, { minLength: 1, maxLength: 8 }),
  rest: fc.boolean(),
  tlsInspector: fc.boolean(),
  httpInspector: fc.boolean(),
});
type AnyListener = typeof anyListener extends fc.Arbitrary<infer T> ? T : never;

const anyConnection = fc.record({
  destination: fc.record({ ip: fc.constantFrom(...DESTINATIONS), port: fc.constantFrom(...PORTS) }),
  source: fc.record({ ip: fc.constantFrom(...SOURCES), port: fc.constantFrom(999, 1000, 1001) }),
  bytes: fc.oneof(
    fc.constantFrom<Partial<SimulatedRequest>>({ protocol: "tcp" }, { protocol: "http" }, {
      protocol: "http",
      httpVersion: "HTTP/1.0",
    }, { protocol: "http", httpVersion: "HTTP/2" }),
    fc.record({
      protocol: fc.constant("tls" as const),
      sni: fc.constantFrom("", "a.com", "b.a.com", "c.a.com", "d.com", "e.org"),
      alpn: fc.constantFrom([], ["h2", "http/1.1"], ["x", "h2"], ["http/1.1"]),
    }),
  ),
}).filter(({ destination, source }) => destination.ip.includes(":") === source.ip.includes(":"));

Deno.test({
  name: "connections to random listeners: the simulator names the listener and filter chain of a real Envoy",
  ignore: path === undefined,
  fn: async () => {
    const seed = seedOr(20262);
    const worlds = fc.sample(fc.array(anyListener, { minLength: 5, maxLength: 5 }), { numRuns: 6, seed });
    const connections = fc.sample(anyConnection, { numRuns: 150, seed });
    const hellos = new Map<string, Uint8Array>();
    const outcomes = new Map<string, number>();
    for (const [i, world] of worlds.entries()) {
      const listeners = redirected(world, i % 2 === 0);
      const envoy = await startStatic(path!, { listeners });
      try {
        const resources = resourcesOf({ listeners });
        for (const { destination, source, bytes } of connections) {
          const request = { direction: "outbound", destination, source, ...bytes } as SimulatedRequest;
          const { steps } = simulate(resources, request);
          const reported = steps.map((step) =>
            step.step === "listener" ? step.name : step.step === "filterChain" ? step.name : ""
          ).filter((name) => name);
          const proxyLine = `PROXY TCP${
            destination.ip.includes(":") ? 6 : 4
          } ${source.ip} ${destination.ip} ${source.port} ${destination.port}\r\n`;
          const first = concat(new TextEncoder().encode(proxyLine), await firstBytes(request, hellos));
          const seen = await exchange("127.0.0.1", envoy.port("virtualOutbound"), first);
          outcomes.set(seen, (outcomes.get(seen) ?? 0) + 1);
          assert.equal(
            reported.length === 2 ? reported.join("|") : "",
            seen,
            JSON.stringify({
              request,
              steps,
              chains: listeners.find(({ name }) => name === reported[0])?.filter_chains,
            }),
          );
        }
      } finally {
        await envoy.stop();
      }
    }
    assert.ok(outcomes.size > 10, `the comparison saw only ${[...outcomes]}`);
  },
});

/** A virtual listener that learns addresses from the PROXY protocol, and listeners that get its connections. */
function redirected(world: readonly AnyListener[], handsOn: boolean): Listener[] {
  const binds = ["0.0.0.0:15001", "10.0.0.1:80", "0.0.0.0:80", ":::80", "127.0.0.1:81"];
  return world.map((one, i) => {
    const at = binds[i]!.lastIndexOf(":");
    const virtual = i === 0;
    const name = virtual ? "virtualOutbound" : `l${i}`;
    const address = virtual ? "127.0.0.1" : binds[i]!.slice(0, at);
    const port_value = virtual ? 0 : Number(binds[i]!.slice(at + 1));
    return {
      name,
      address: { socket_address: { address, port_value } },
      traffic_direction: TrafficDirection.OUTBOUND,
      ...(virtual ? { use_original_dst: { value: handsOn } } : { bind_to_port: { value: false } }),
      listener_filters: [
        ...(virtual ? [filter("proxy_protocol.v3.ProxyProtocol")] : []),
        ...(one.tlsInspector ? [filter("tls_inspector.v3.TlsInspector")] : []),
        ...(one.httpInspector ? [filter("http_inspector.v3.HttpInspector")] : []),
      ],
      filter_chains: distinct(one.matches).map((match, j) => chain(name, `c${j}`, match)),
      ...(one.rest ? { default_filter_chain: chain(name, "rest") } : {}),
    };
  });
}

function filter(type: string): envoy.config.listener.v3.ListenerFilter {
  return {
    name: type,
    typed_config: {
      type_url: `type.googleapis.com/envoy.extensions.filters.listener.${type}`,
      value: new Uint8Array(),
    },
  };
}

function chain(listener: string, name: string, match?: Match): FilterChain {
  return {
    name,
    ...(match ? { filter_chain_match: match } : {}),
    filters: [{ name: "direct_response", typed_config: directResponse(`${listener}|${name}`) }],
  };
}

/** A network filter that sends a text and hangs up. The filter's message has one string in a data source. */
function directResponse(text: string): google.protobuf.Any {
  const bytes = new TextEncoder().encode(text);
  return {
    type_url: "type.googleapis.com/envoy.extensions.filters.network.direct_response.v3.Config",
    value: concat(new Uint8Array([0x0a, bytes.length + 2, 0x1a, bytes.length]), bytes),
  };
}

/** Drops matches that Envoy would refuse: two chains must not share a combination of their values. */
function distinct(matches: readonly Match[]): Match[] {
  const taken = new Set<string>();
  return matches.filter((match) => {
    const lists = [
      [match.destination_port?.value ?? 0],
      match.prefix_ranges ?? [],
      match.server_names ?? [],
      [match.transport_protocol],
      match.application_protocols ?? [],
      [match.source_type],
      match.source_prefix_ranges ?? [],
      match.source_ports ?? [],
    ].map((list) => list.length === 0 ? [""] : list.map((value) => JSON.stringify(value)));
    const keys = lists.reduce<string[]>((all, list) => all.flatMap((key) => list.map((value) => `${key}|${value}`)), [
      "",
    ]);
    if (keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}

async function firstBytes(request: SimulatedRequest, hellos: Map<string, Uint8Array>): Promise<Uint8Array> {
  if (request.protocol === "tcp") return new Uint8Array([1, 2, 3, 4, 10, 13, 10]);
  if (request.protocol === "http") {
    if (request.httpVersion === "HTTP/2") {
      const settings = new Uint8Array([0, 0, 0, 4, 0, 0, 0, 0, 0]);
      return concat(new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings);
    }
    return new TextEncoder().encode(`GET / ${request.httpVersion ?? "HTTP/1.1"}\r\nHost: a.com\r\n\r\n`);
  }
  const key = `${request.sni} ${request.alpn}`;
  const known = hellos.get(key) ?? await clientHello(request.sni ?? "", request.alpn ?? []);
  hellos.set(key, known);
  return known;
}

/** The first bytes of a real TLS client. */
async function clientHello(sni: string, alpn: readonly string[]): Promise<Uint8Array> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  const server = await listener.accept();
  // An address as host name sends no server name.
  const tls = await Deno.startTls(client, { hostname: sni || "127.0.0.1", alpnProtocols: [...alpn] });
  const handshake = tls.handshake().catch(() => "ends when the server hangs up");
  const buffer = new Uint8Array(65536);
  const count = await server.read(buffer);
  server.close();
  listener.close();
  await handshake;
  tls.close();
  return buffer.slice(0, count ?? 0);
}

function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
