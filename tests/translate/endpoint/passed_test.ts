/** A gateway with AUTO_PASSTHROUGH: clusters by host, and the eligible endpoints. */
import assert from "node:assert/strict";
import { parseObject } from "../../../lib/config/object.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import type { TrafficPolicy } from "../../../lib/config/kinds/destination_rule/schema.ts";
import type { Endpoint, Service } from "../../../lib/registry/types.ts";
import { passedClusters } from "../../../lib/translate/cluster/passed.ts";
import { passedAssignments } from "../../../lib/translate/endpoint/passed.ts";
import { inFile } from "../../config/origins.ts";
import { configObject, meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { endpoint, rule, service } from "../make.ts";

const HOST = "a.default.svc.cluster.local";
const NAME = `outbound_.80_._.${HOST}`;

function passing(hosts: readonly string[], mode = "AUTO_PASSTHROUGH"): ConfigObject<"Gateway"> {
  const server = { port: { number: 15443, name: "tls", protocol: "TLS" }, hosts, tls: { mode } };
  const { object } = parseObject(
    { apiVersion: "networking.mesh.io/v1", kind: "Gateway", metadata: { name: "g" }, spec: { servers: [server] } },
    inFile("test"),
    { defaultNamespace: "edge" },
  );
  return object as ConfigObject<"Gateway">;
}

function read(hosts: readonly string[], world: ReaderWorld = {}) {
  return meshReader({
    services: [service(HOST)],
    gateways: [passing(hosts)],
    properties: { type: "router", network: "n1" },
    ...world,
  });
}

const clusterNames = (hosts: readonly string[], given: Partial<Service> = {}) =>
  passedClusters(read(hosts, { services: [service(HOST, given)] }), HOST).map(({ message }) => message.name);

Deno.test("clusters are there for hosts of the servers, in the namespace that a server names", () => {
  for (const hosts of [["*"], ["*.local"], [HOST], ["default/*.local"], ["*.com", "*.cluster.local"]]) {
    assert.deepEqual(clusterNames(hosts), [NAME], hosts.join());
  }
  for (const hosts of [["*.com"], ["svc.cluster.local"], ["./*.local"], ["other/*"]]) {
    assert.deepEqual(clusterNames(hosts), [], hosts.join());
  }
});

Deno.test("services outside of the mesh, and services whose requests decide the address, have no passed endpoints", () => {
  assert.deepEqual(clusterNames(["*"], { meshExternal: true }), []);
  assert.deepEqual(clusterNames(["*"], { resolution: "dynamicDns" }), []);
  assert.deepEqual(clusterNames(["*"], { resolution: "passthrough" }), [NAME], "a headless service");
});

Deno.test("a rule for other TLS than that of the mesh leaves a cluster out, as no client comes by it", () => {
  const names = (tls: TrafficPolicy["tls"]) => {
    const destinationRules = { [HOST]: rule(HOST, { trafficPolicy: { ...(tls && { tls }) } }) };
    return passedClusters(read(["*"], { destinationRules }), HOST).length;
  };
  assert.equal(names(undefined), 1);
  assert.equal(names({ mode: "MESH_MUTUAL" }), 1);
  assert.equal(names({ mode: "DISABLE" }), 0);
  assert.equal(names({ mode: "SIMPLE" }), 0);
});

Deno.test("passed endpoints accept mutual TLS and are dialled by the gateway; the gateway needs no identity", () => {
  const dialled = (given: Partial<Endpoint>, world: ReaderWorld = {}) => {
    const endpoints = { [HOST]: [endpoint("10.0.0.1", { network: "n1", tlsMode: "mesh", ...given })] };
    const [built] = passedAssignments(read(["*"], { endpoints, ...world }), HOST);
    assert.equal(built?.message.cluster_name, NAME);
    return built.message.endpoints?.length ?? 0;
  };
  assert.equal(dialled({}), 1);
  assert.equal(dialled({ network: "" }), 1);
  assert.equal(dialled({ tlsMode: "disabled" }), 0);
  assert.equal(dialled({ portName: "other" }), 0);
  const off = configObject("PeerAuthentication", "default/off", { mtls: { mode: "DISABLE" } });
  assert.equal(dialled({}, { objects: [off] }), 0, "a policy has turned mutual TLS off");
  assert.equal(dialled({ network: "n2" }), 1, "a network without a gateway is dialled");
  const entrances = { n2: [{ network: "n2", address: "1.2.3.4", port: 15443 }] };
  assert.equal(dialled({ network: "n2" }, { entrances }), 0, "its gateway might pass the connection back");
});

Deno.test("a gateway without such a server asks about nothing but that", () => {
  const plain = meshReader({ services: [service(HOST)], gateways: [passing(["*"], "PASSTHROUGH")] });
  assert.deepEqual([...passedClusters(plain, HOST), ...passedAssignments(plain, HOST)], []);
  assert.deepEqual(plain.asked, ["passedHosts"]);
});
