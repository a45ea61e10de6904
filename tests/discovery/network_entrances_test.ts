/** Gateways of networks on their way to proxies: only endpoints behind the gateways are built again. */
import assert from "node:assert/strict";
import { MockRegistry } from "../../lib/registry/mock.ts";
import type { RegistrySink } from "../../lib/registry/types.ts";
import { Fixture, texts } from "./fixture.ts";

/** A registry whose gateways the test moves. */
class Gateways extends MockRegistry {
  report: RegistrySink["networks"] = () => {};

  override start(sink: RegistrySink): Promise<void> {
    this.report = (known) => sink.networks(known);
    return super.start(sink);
  }
}

const files = { TLS_CLIENT_CERT_CHAIN: "/c", TLS_CLIENT_KEY: "/k", TLS_CLIENT_ROOT_CERT: "/r" };
const metadata = Object.fromEntries(
  Object.entries({ ...files, NETWORK: "n1" }).map(([key, stringValue]) => [key, { stringValue }]),
);

/** A host whose endpoint is in a network. */
const entry = (name: string, network: string) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "ServiceEntry",
  metadata: { name, namespace: "x" },
  spec: {
    hosts: [`${name}.example.com`],
    location: "MESH_INTERNAL",
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    resolution: "STATIC",
    endpoints: [{ address: "10.0.0.1", network, labels: { "security.mesh.io/tlsMode": "mesh" } }],
  },
});

Deno.test("a gateway that moves costs the assignments of its network's hosts, and reaches the proxies of others", async () => {
  const fixture = new Fixture();
  const registry = new Gateways("Orch");
  await fixture.pipeline.addRegistry(registry);
  const hosts = Array.from({ length: 50 }, (_, index) => entry(`h${index}`, ["n1", "n2", "n3"][index % 3]!));
  fixture.put(...hosts);
  fixture.pipeline.flush();
  const state = fixture.join({ namespace: "x", address: "172.16.0.1", metadata });
  const address = (host: string) =>
    /"address":"([^"]+)"/.exec(texts(state)[`assignment/outbound|80||${host}.example.com`] ?? "")?.[1];
  assert.deepEqual(["h0", "h1", "h2"].map(address), ["10.0.0.1", "10.0.0.1", "10.0.0.1"]);
  const { assignments, clusters } = fixture.pipeline.translator.caches.of;
  const counts = () => [assignments.counts.built, clusters.counts.built];
  const [before, clustersBefore] = counts() as [number, number];
  const moved = (one: string) =>
    registry.report({ network: "", entrances: [{ network: "n2", address: one, port: 15443 }] });
  moved("192.0.2.1");
  fixture.pipeline.flush();
  assert.deepEqual(["h0", "h1", "h2"].map(address), ["10.0.0.1", "192.0.2.1", "10.0.0.1"]);
  assert.deepEqual(counts(), [before + 17, clustersBefore], "the 17 hosts of n2");
  moved("192.0.2.1");
  fixture.pipeline.flush();
  assert.deepEqual(counts(), [before + 17, clustersBefore], "the same report is none");
  moved("192.0.2.2");
  fixture.pipeline.flush();
  assert.deepEqual([...counts(), address("h1")], [before + 34, clustersBefore, "192.0.2.2"]);
  fixture.pipeline.meshChanged({ ...fixture.pipeline.mesh, connectTimeout: 1234 }, { networks: {} });
  fixture.pipeline.flush();
  assert.equal(address("h1"), "192.0.2.2", "a new mesh configuration keeps what registries know");
  assert.deepEqual(fixture.failures, []);
});

Deno.test("the network named by a registry is the network of its cluster's workload entries", async () => {
  const fixture = new Fixture();
  const registry = new Gateways("Orch");
  await fixture.pipeline.addRegistry(registry);
  fixture.put(entry("h", ""));
  fixture.pipeline.flush();
  const network = () => fixture.pipeline.endpoints.endpoints("x/h.example.com")[0]?.network;
  assert.equal(network(), "");
  registry.report({ network: "home", entrances: [] });
  assert.equal(network(), "home");
  registry.report({ network: "", entrances: [] });
  assert.equal(network(), "");
});
