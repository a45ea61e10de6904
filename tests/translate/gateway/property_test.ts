/** Properties of all sets of Gateway objects and virtual services. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { decode } from "../../../lib/pb/reflect.ts";
import { gatewayListeners } from "../../../lib/translate/gateway/listeners.ts";
import { mergeGateways } from "../../../lib/translate/gateway/merge.ts";
import { gatewayRouteConfigurations } from "../../../lib/translate/gateway/routes.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { gatewayWorldOf } from "./gateway_world.ts";
import { runs } from "../../properties.ts";

const api = "networking.mesh.io/v1";
const files = { serverCertificate: "/c.pem", privateKey: "/k.pem" };
const hosts = ["*", "a.com", "b.com", "*.a.com", "x.a.com", "ns-1/a.com", "./b.com", "*/x.a.com"];

const serverOf = fc.record({
  port: fc.constantFrom(80, 443),
  bind: fc.constantFrom(undefined, "0.0.0.0", "10.0.0.1"),
  hosts: fc.uniqueArray(fc.constantFrom(...hosts), { minLength: 1, maxLength: 3 }),
  kind: fc.constantFrom("HTTP", "redirect", "HTTPS", "secret", "TCP", "pass", "auto", "tls"),
});

const kinds: Readonly<Record<string, { protocol: string; tls?: object }>> = {
  HTTP: { protocol: "HTTP" },
  redirect: { protocol: "HTTP", tls: { httpsRedirect: true } },
  HTTPS: { protocol: "HTTPS", tls: { mode: "SIMPLE", ...files } },
  secret: { protocol: "HTTPS", tls: { mode: "SIMPLE", credentialName: "x" } },
  TCP: { protocol: "TCP" },
  pass: { protocol: "TLS", tls: { mode: "PASSTHROUGH" } },
  auto: { protocol: "TLS", tls: { mode: "AUTO_PASSTHROUGH" } },
  tls: { protocol: "TLS", tls: { mode: "SIMPLE", ...files } },
};

const gatewaysOf = fc.array(fc.array(serverOf, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })
  .map((objects) =>
    objects.map((servers, i) => ({
      apiVersion: api,
      kind: "Gateway",
      metadata: { name: `g${i}`, namespace: `ns-${i % 2}` },
      spec: {
        servers: servers.map(({ port, bind, hosts, kind }, j) => {
          const { protocol, tls } = kinds[kind]!;
          return { port: { number: port, protocol, name: `p${j}` }, hosts, ...(bind && { bind }), ...(tls && { tls }) };
        }),
      },
    }))
  );

const virtualServicesOf = fc.array(
  fc.record({
    // Hosts of a virtual service do not overlap.
    hosts: fc.constantFrom(["*"], ["a.com"], ["b.com", "a.com"], ["*.a.com"], ["*.a.com", "b.com"], [
      "x.a.com",
      "a.com",
    ]),
    gateway: fc.constantFrom("ns-0/g0", "ns-1/g1", "ns-0/g2"),
    namespace: fc.constantFrom("ns-0", "ns-1"),
    exportTo: fc.constantFrom(undefined, ["."], ["mesh-system"]),
    path: fc.constantFrom(undefined, "/x", "/y"),
    sni: fc.uniqueArray(fc.constantFrom("a.com", "x.a.com", "*.a.com", "b.com"), { minLength: 1, maxLength: 2 }),
  }),
  { maxLength: 6 },
).map((list) =>
  list.map(({ hosts, gateway, namespace, exportTo, path, sni }, i) => {
    const to = { route: [{ destination: { host: `d${i}.svc`, port: { number: 1 } } }] };
    return {
      apiVersion: api,
      kind: "VirtualService",
      metadata: { name: `v${i}`, namespace },
      spec: {
        hosts,
        gateways: [gateway],
        ...(exportTo && { exportTo }),
        http: [{ ...(path && { match: [{ uri: { prefix: path } }] }), ...to }],
        tcp: [to],
        tls: [{
          match: [{ sniHosts: sni.filter((name) => covered(hosts, name)) }].filter((m) => m.sniHosts.length),
          ...to,
        }]
          .filter((rule) => rule.match.length > 0),
      },
    };
  })
);

/** Validation wants server names to be among the hosts. */
function covered(hosts: readonly string[], name: string): boolean {
  return hosts.some((host) => host === "*" || host === name || host === "*.a.com" && name.endsWith(".a.com"));
}

const RUNS = { numRuns: runs(200) };

Deno.test("a younger Gateway object never takes anything from older Gateway objects", () => {
  fc.assert(
    fc.property(gatewaysOf, (objects) => {
      const { read } = gatewayWorldOf(objects);
      const all = read.gateways();
      const older = mergeGateways(all.slice(0, -1));
      const merged = mergeGateways(all);
      for (const { port, bind, kind, servers } of older.ports) {
        const now = merged.ports.find((p) => p.port === port && p.bind === bind);
        assert.equal(now?.kind, kind);
        assert.deepEqual(now?.servers.slice(0, servers.length), servers);
      }
      assert.deepEqual(merged.problems.slice(0, older.problems.length), older.problems);
    }),
    RUNS,
  );
});

Deno.test("every server is either served or reported", () => {
  fc.assert(
    fc.property(gatewaysOf, (objects) => {
      const { read } = gatewayWorldOf(objects);
      const { ports, problems } = mergeGateways(read.gateways());
      const served = ports.flatMap((port) => port.servers.map(({ cause, index }) => `${cause}[${index}]`));
      const reported = problems.map(({ cause, index }) => `${cause}[${index}]`);
      const all = read.gateways().flatMap(({ key, spec }) => spec.servers.map((_, i) => `${key}[${i}]`));
      assert.deepEqual([...served, ...reported].sort(), all.sort());
    }),
    RUNS,
  );
});

/** The gateway's service: HTTP/3 at a separate port of the workload, or at another server's port. */
const udp = {
  apiVersion: api,
  kind: "ServiceEntry",
  metadata: { name: "own", namespace: "mesh-system" },
  spec: {
    hosts: ["own.test"],
    resolution: "STATIC",
    ports: [{ number: 443, name: "a", protocol: "UDP" }, { number: 80, name: "b", protocol: "UDP" }],
  },
};
const targetsOf = fc.constantFrom({}, { 443: 443 }, { 443: 8443 }, { 443: 8443, 80: 8443 });

function withHttp3(objects: readonly object[], targets: object, http3 = true) {
  const world = { kind: "World", ownService: "own.test", targets, settings: { http3 }, properties: { agent: true } };
  return gatewayWorldOf([...objects, udp, world]);
}

Deno.test("HTTP/3 changes nothing of TCP, is offered where it is served, and served where it is offered", () => {
  fc.assert(
    fc.property(gatewaysOf, virtualServicesOf, targetsOf, (gateways, virtualServices, targets) => {
      const [without, world] = [false, true].map((on) => withHttp3([...gateways, ...virtualServices], targets, on));
      const { listeners, problems } = gatewayListeners(world!.read, world!.targets);
      const before = gatewayListeners(without!.read, without!.targets);
      const [quic, tcp] = [true, false].map((is) =>
        listeners.filter(({ message }) => (message.udp_listener_config !== undefined) === is)
      );
      assert.deepEqual(tcp, before.listeners);
      assert.deepEqual(problems, before.problems);
      const routesOf = (of: typeof listeners) =>
        new Set(of.flatMap(({ message }) => (message.filter_chains ?? []).map(routeConfigurationOf)));
      const offered = [...gatewayRouteConfigurations(world!.read, world!.targets)].flatMap(([name, built]) =>
        built.routeConfiguration.message.response_headers_to_add ? [name] : []
      );
      assert.deepEqual(routesOf(quic!), new Set(offered));
      assert.ok(routesOf(quic!).isSubsetOf(routesOf(tcp!)));
    }),
    RUNS,
  );
});

function routeConfigurationOf({ filters }: envoy.config.listener.v3.FilterChain): string | undefined {
  const { type_url = "", value } = filters!.at(-1)!.typed_config!;
  return decode<{ rds?: { route_config_name?: string } }>(type_url.split("/")[1]!, value as Uint8Array)
    .rds?.route_config_name;
}

Deno.test("no listener has two chains for the same connections, and no two listeners the same address", () => {
  fc.assert(
    fc.property(gatewaysOf, virtualServicesOf, targetsOf, (gateways, virtualServices, targets) => {
      const world = withHttp3([...gateways, ...virtualServices], targets);
      const { listeners } = gatewayListeners(world.read, world.targets);
      const addresses = listeners.map(({ message }) => JSON.stringify(message.address));
      assert.equal(new Set(addresses).size, addresses.length);
      for (const { message } of listeners) {
        const names = (message.filter_chains ?? []).flatMap(({ filter_chain_match: match }) => {
          const offered = match?.application_protocols?.join("+") ?? "";
          return (match?.server_names ?? [""]).map((name) => `${name} ${offered}`);
        });
        assert.ok(names.length > 0);
        assert.equal(new Set(names).size, names.length, `${message.name}: ${names}`);
      }
    }),
    RUNS,
  );
});

Deno.test("virtual hosts of a route configuration have unique names and domains, collapsed or not", () => {
  fc.assert(
    fc.property(gatewaysOf, virtualServicesOf, (gateways, virtualServices) => {
      const routesByDomain = (enableRouteCollapse: boolean) => {
        const { read } = gatewayWorldOf([...gateways, ...virtualServices], { settings: { enableRouteCollapse } });
        return [...gatewayRouteConfigurations(read)].map(([name, { virtualHosts }]) => {
          const messages = virtualHosts.map(({ message }) => message);
          const domains = messages.flatMap((v) => v.domains ?? []);
          assert.equal(new Set(domains).size, domains.length);
          assert.equal(new Set(messages.map((v) => v.name)).size, messages.length);
          const routes = messages.flatMap((v) => v.domains!.map((d) => [d, v.routes, v.require_tls] as const));
          return [name, routes.sort(([a], [b]) => a < b ? -1 : 1)];
        });
      };
      assert.deepEqual(routesByDomain(true), routesByDomain(false));
    }),
    RUNS,
  );
});
