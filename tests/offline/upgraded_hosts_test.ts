/**
 * Wherever connections to servers outside of the mesh are upgraded to HTTP/2, a finding tells the needs of WebSocket.
 */
import assert from "node:assert/strict";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { isOutside } from "../../lib/analyze/routing/upgraded_hosts.ts";
import type { Endpoint, Provider } from "../../lib/registry/types.ts";
import { endpoint } from "../translate/make.ts";
import { ports, service } from "../translate/route/objects.ts";
import { meshOf } from "./mesh_of.ts";
import { resourcesOf } from "./way.ts";

const object = (kind: string, name: string, spec: object) =>
  `---\n${
    JSON.stringify({ apiVersion: "networking.istio.io/v1", kind, metadata: { namespace: "shop", name }, spec })
  }\n`;

const CHAT = object("ServiceEntry", "chat", {
  hosts: ["chat.example.com"],
  location: "MESH_EXTERNAL",
  resolution: "STATIC",
  ports: [{ number: 80, name: "http", protocol: "HTTP" }, { number: 81, name: "more", protocol: "HTTP" }],
  endpoints: [{ address: "10.9.1.1", labels: { version: "v1" } }],
}) + object("WorkloadEntry", "app-1", { address: "10.9.0.2", labels: { app: "client" } });

const http = (h2UpgradePolicy: string) => ({ connectionPool: { http: { h2UpgradePolicy } } });

const rule = (spec: object) => object("DestinationRule", "chat", { host: "chat.example.com", ...spec });

/** The fields in the finding. */
function fields(yaml: string, h2UpgradePolicy = "DO_NOT_UPGRADE"): string[] {
  const mesh = meshOf({ "mesh.yaml": yaml }, { meshConfig: `h2UpgradePolicy: ${h2UpgradePolicy}` });
  const { findings } = unpaced(checkMesh(mesh, { assumeServices: false, textOf: () => yaml }));
  return findings.filter(({ name }) => name === "upgrade-outside-mesh").map(({ place }) => place.field);
}

/** The clusters with HTTP/2, by port and subset. */
function upgraded(yaml: string): string[] {
  const { clusters = [] } = resourcesOf(yaml, "shop/app-1", ["cds"]);
  return clusters.filter((one) => JSON.stringify(one).includes('"http2_protocol_options"'))
    .map(({ name }) => String(name)).filter((name) => name.includes("chat.example.com"));
}

Deno.test("a subset or its port that upgrades is reported, like the whole rule", () => {
  const all = CHAT + rule({ trafficPolicy: http("UPGRADE") });
  assert.deepEqual(fields(all), ["spec.trafficPolicy.connectionPool.http.h2UpgradePolicy"]);
  const subset = (trafficPolicy: object) =>
    CHAT + rule({ subsets: [{ name: "v1", labels: { version: "v1" }, trafficPolicy }] });
  assert.deepEqual(fields(subset(http("UPGRADE"))), [
    "spec.subsets[0].trafficPolicy.connectionPool.http.h2UpgradePolicy",
  ]);
  assert.deepEqual(upgraded(subset(http("UPGRADE"))), [
    "outbound|80|v1|chat.example.com",
    "outbound|81|v1|chat.example.com",
  ]);
  const port = subset({ portLevelSettings: [{ port: { number: 81 }, ...http("UPGRADE") }] });
  assert.deepEqual(fields(port), [
    "spec.subsets[0].trafficPolicy.portLevelSettings[0].connectionPool.http.h2UpgradePolicy",
  ]);
  assert.deepEqual(upgraded(port), ["outbound|81|v1|chat.example.com"]);
  assert.deepEqual(fields(subset(http("DO_NOT_UPGRADE"))), []);
});

Deno.test("settings for a port that the host does not have upgrade nothing, and are not told of", () => {
  const port = CHAT + rule({ trafficPolicy: { portLevelSettings: [{ port: { number: 82 }, ...http("UPGRADE") }] } });
  assert.deepEqual(fields(port), []);
  assert.deepEqual(upgraded(port), []);
});

Deno.test("the mesh's default is reported at the ports that it upgrades, unless a rule decides for the ports", () => {
  assert.deepEqual(fields(CHAT, "UPGRADE"), ["spec.ports[0].protocol", "spec.ports[1].protocol"]);
  assert.deepEqual(fields(CHAT), []);
  assert.deepEqual(fields(CHAT + rule({ trafficPolicy: http("DO_NOT_UPGRADE") }), "UPGRADE"), []);
  const port = rule({ trafficPolicy: { portLevelSettings: [{ port: { number: 81 }, ...http("DO_NOT_UPGRADE") }] } });
  assert.deepEqual(fields(CHAT + port, "UPGRADE"), ["spec.ports[0].protocol"]);
  assert.deepEqual(fields(CHAT.replaceAll("MESH_EXTERNAL", "MESH_INTERNAL"), "UPGRADE"), []);
});

Deno.test("a service of the orchestrator is outside of the mesh as soon as one of its pods has no proxy", () => {
  const of = (provider: Provider, ...modes: Endpoint["tlsMode"][]) => {
    const own = service({ hostname: "chat.shop.svc.cluster.local", ports: ports([80, "HTTP"]), provider });
    return isOutside(own, { endpoints: () => modes.map((tlsMode, at) => endpoint(`10.9.1.${at}`, { tlsMode })) });
  };
  assert.equal(of("Orch", "mesh", "mesh"), false);
  assert.equal(of("Orch", "mesh", "disabled"), true);
  // Nothing says whether a proxy runs beside an address of an entry.
  assert.equal(of("External", "disabled"), false);
});
