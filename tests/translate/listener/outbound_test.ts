/** A host's contributions to outbound listeners, and the queries for them. */
import assert from "node:assert/strict";
import type { EffectiveVirtualService } from "../../../lib/mesh/types.ts";
import { listenerContributions } from "../../../lib/translate/listener/outbound/outbound.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { port, service } from "../make.ts";

const HOST = "a.default.svc.cluster.local";

function contributions(world: ReaderWorld) {
  return listenerContributions(meshReader(world), HOST);
}

Deno.test("a host that is not visible contributes nothing", () => {
  assert.deepEqual(contributions({}), []);
});

Deno.test("an alias contributes nothing: the listeners of its target serve it", () => {
  assert.deepEqual(contributions({ services: [service(HOST, { externalName: "b.example.com" })] }), []);
});

Deno.test("UDP ports have no listener", () => {
  assert.deepEqual(contributions({ services: [service(HOST, { ports: [port(53, "UDP")] })] }), []);
});

Deno.test("an HTTP port asks neither for rules nor for endpoints nor for the mesh: editing them rebuilds no listener", () => {
  const read = meshReader({ services: [service(HOST, { addresses: ["10.1.0.1"] })] });
  assert.deepEqual(listenerContributions(read, HOST).map((p) => p.key), ["0.0.0.0_80"]);
  assert.deepEqual(read.asked, [
    `service/${HOST}`,
    "egressListeners",
    `egressSees/0/${HOST}`,
    "derived/interceptionNone",
    "derived/ipMode",
  ]);
});

Deno.test("by address, an HTTP port also listens at each address of an orchestrator's service", () => {
  const listened = (given: Parameters<typeof service>[1]) =>
    contributions({ services: [service(HOST, given)], settings: { httpByAddress: true } }).map(({ key, routeName }) =>
      `${key} ${routeName}`
    );
  const everywhere = "0.0.0.0_80 80";
  assert.deepEqual(listened({ addresses: ["10.1.0.1"] }), [everywhere, `10.1.0.1_80 ${HOST}:80`]);
  assert.deepEqual(listened({ addresses: ["10.1.0.1"], provider: "External" }), [everywhere]);
  assert.deepEqual(listened({ addresses: [] }), [everywhere]);
});

Deno.test("a TCP port asks for endpoints only where each of them is a listener", () => {
  const asks = (given: Parameters<typeof service>[1]) => {
    const read = meshReader({ services: [service(HOST, { ports: [port(9000, "TCP")], ...given })] });
    listenerContributions(read, HOST);
    return read.asked.includes(`endpoints/${HOST}`);
  };
  assert.equal(asks({ addresses: ["10.1.0.1"] }), false);
  assert.equal(asks({ resolution: "dns" }), false);
  assert.equal(asks({ resolution: "passthrough", headless: true }), true);
});

Deno.test("an orchestrator's headless service without endpoints has no listener; an entry's headless service passes connections to the dialled address", () => {
  const headless = { ports: [port(9000, "TCP")], resolution: "passthrough" as const };
  assert.deepEqual(contributions({ services: [service(HOST, { ...headless, headless: true })] }), []);
  const entry = contributions({ services: [service(HOST, { ...headless, provider: "External" })] });
  assert.deepEqual(entry.map((p) => p.key), ["0.0.0.0_9000"]);
});

Deno.test("a rule for some labels or one namespace asks whether the proxy has them, never what it has", () => {
  const rules: EffectiveVirtualService = {
    name: "r",
    namespace: "default",
    hosts: [HOST],
    gateways: ["mesh"],
    spec: {
      tcp: [{
        match: [{ sourceLabels: { app: "x" }, sourceNamespace: "other" }],
        route: [{ destination: { host: "b.example.com" } }],
      }],
    },
    exportTo: ["*"],
    creationTimestamp: 0,
    causes: ["VirtualService/default/r"],
  };
  const read = meshReader({
    properties: { namespace: "other", labels: { app: "x" } },
    services: [service(HOST, { ports: [port(9000, "TCP")], addresses: ["10.1.0.1"] })],
    virtualServices: { [HOST]: rules },
  });
  const [contribution] = listenerContributions(read, HOST);
  assert.equal(contribution?.chains[0]?.proxy.clusters[0]?.name, "outbound|9000||b.example.com");
  assert.deepEqual(contribution?.causes, ["Service/default/a", "VirtualService/default/r"]);
  assert.ok(read.asked.includes("derived/label/app=x"));
  assert.ok(read.asked.includes("derived/sameNamespace/other"));
  assert.ok(!read.asked.includes("property/namespace"));
});

Deno.test("a sniffed port at an address of its own has routes of its own; at a shared one it shares the port's", () => {
  const sniffed = { ports: [port(7000, "Unsupported")], addresses: ["10.1.0.1"] };
  const routes = (world: ReaderWorld) =>
    contributions({ ...world, services: [service(HOST, sniffed)] }).map((p) => p.routeName);
  assert.deepEqual(routes({}), [`${HOST}:7000`]);
  assert.deepEqual(routes({ properties: { interceptionMode: "NONE" } }), ["7000"]);
});

Deno.test("an egress listener's own port serves only services that have that port", () => {
  const egress = [{ index: 0, captureMode: "DEFAULT" as const, port: { number: 81, protocol: "HTTP", name: "http" } }];
  const keys = (number: number) =>
    contributions({ egress, services: [service(HOST, { ports: [port(number)] })] }).map((p) => p.key);
  assert.deepEqual(keys(81), ["0.0.0.0_81"]);
  assert.deepEqual(keys(80), []);
});

Deno.test("contributions of two services that differ in their hosts alone are equal but for them", () => {
  const other = "b.default.svc.cluster.local";
  const world = { services: [service(HOST), service(other)] };
  const [a] = listenerContributions(meshReader(world), HOST);
  const [b] = listenerContributions(meshReader(world), other);
  assert.deepEqual({ ...a, hostname: "", causes: [] }, { ...b, hostname: "", causes: [] });
});

Deno.test("TLS rules for a host under a wildcard service apply at the wildcard's listeners, beside the routes of the wildcard", () => {
  const host = "www.w.example.com";
  const wildcard = service("*.w.example.com", {
    ports: [port(80), port(443, "TLS"), port(9000, "TCP")],
    provider: "External",
  });
  const other = service("b.default.svc.cluster.local", { ports: [port(443, "TLS")] });
  const rules: EffectiveVirtualService = {
    name: "r",
    namespace: "default",
    hosts: [host, "x.com"],
    gateways: ["mesh"],
    exportTo: ["*"],
    creationTimestamp: 0,
    causes: ["VirtualService/default/r"],
    spec: {
      hosts: [host, "x.com"],
      tls: [
        {
          match: [{ sniHosts: [host, "x.com"], port: 443 }, { sniHosts: ["x.com"] }],
          route: [{ destination: { host: other.hostname } }],
        },
      ],
    },
  };
  const world = { services: [wildcard, other], virtualServices: { [host]: rules } };
  const read = meshReader(world);
  const [contribution, ...more] = listenerContributions(read, host);
  assert.deepEqual(more, [], "neither for HTTP nor for TCP");
  assert.equal(contribution?.key, "0.0.0.0_443");
  assert.deepEqual(contribution?.chains.map((chain) => chain.sni), [[host]]);
  assert.ok(contribution?.causes.includes("VirtualService/default/r"));
  const left = listenerContributions(read, wildcard.hostname).find(({ key }) => key === "0.0.0.0_443");
  assert.deepEqual(left?.chains.map((chain) => chain.sni), [["*.w.example.com"]]);
  const named = { ...world, virtualServices: { [host]: { ...rules, hosts: ["x.com"] } } };
  assert.deepEqual(listenerContributions(meshReader(named), host), [], "only where it names the host");
});
