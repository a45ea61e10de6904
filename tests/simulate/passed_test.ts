/** A gateway that passes connections on by name (AUTO_PASSTHROUGH), in the simulation. */
import assert from "node:assert/strict";
import { simulate } from "../../lib/simulate/mod.ts";
import { passedClusters } from "../../lib/translate/cluster/passed.ts";
import { passedAssignments } from "../../lib/translate/endpoint/passed.ts";
import { gatewayListeners } from "../../lib/translate/gateway/listeners.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { endpoint, service } from "../translate/make.ts";
import { gatewayWorldOf } from "../translate/gateway/gateway_world.ts";
import { resourcesOf } from "./resources.ts";

const HOST = "a.default.svc.cluster.local";
const NAME = `outbound_.80_._.${HOST}`;

function resources() {
  const tls = { port: { number: 15443, name: "tls", protocol: "TLS" }, tls: { mode: "AUTO_PASSTHROUGH" } };
  const gateway = {
    apiVersion: "networking.mesh.io/v1",
    kind: "Gateway",
    metadata: { name: "g", namespace: "edge" },
    spec: { servers: [{ ...tls, hosts: ["*.local"] }] },
  };
  const { read } = gatewayWorldOf([gateway]);
  const world = Object.create(read, {
    service: { value: (host: string) => host === HOST ? service(HOST) : undefined },
    endpoints: { value: () => [endpoint("10.0.0.1", { tlsMode: "mesh" })] },
  });
  return resourcesOf({
    listeners: gatewayListeners(world).listeners.map(({ message }) => message),
    clusters: passedClusters(world, HOST).map(({ message }) => message),
    assignments: passedAssignments(world, HOST).map(({ message }) =>
      message as envoy.config.endpoint.v3.ClusterLoadAssignment
    ),
  });
}

Deno.test("a connection goes to the cluster that its server name spells, and all others end at the gateway", () => {
  const all = resources();
  const outcome = (sni: string, alpn: readonly string[] = ["istio"]) => {
    const destination = { ip: "0.0.0.0", port: 15443 };
    const { outcome, steps } = simulate(all, { direction: "direct", destination, protocol: "tls", sni, alpn });
    const reached = steps.flatMap((step) => step.step === "cluster" ? step.endpoints.map((e) => e.address) : []);
    return `${outcome.kind} ${reached.join()}`.trim();
  };
  assert.equal(outcome(NAME), "forwarded 10.0.0.1");
  assert.equal(outcome(NAME.toUpperCase()), "forwarded 10.0.0.1");
  assert.doesNotMatch(outcome("outbound_.81_._.a.default.svc.cluster.local"), /forwarded/);
  assert.equal(outcome(`outbound|80||${HOST}`), "closed");
  assert.equal(outcome("a.example.com"), "closed");
  assert.equal(outcome(NAME, ["h2"]), "closed");
});
