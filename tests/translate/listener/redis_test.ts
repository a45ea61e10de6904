/** Listeners that understand Redis: their cluster finds an endpoint by the key of a command. */
import assert from "node:assert/strict";
import type { Service } from "../../../lib/registry/types.ts";
import type { InboundTarget } from "../../../lib/translate/inbound/target.ts";
import { REDIS } from "../../../lib/translate/filters/understood.ts";
import { inboundListeners } from "../../../lib/translate/listener/inbound/inbound.ts";
import { routePlan, servicePlan } from "../../../lib/translate/listener/outbound/tcp_destination.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { port, rule, service } from "../make.ts";

const HOST = "keys.default.svc.cluster.local";
const SETTINGS = { databases: ["Redis"] } as const;
const PORT = port(6379, "Redis");

/** The protocol that a service's listener understands. */
function understood(given: Partial<Service>, world: ReaderWorld = {}) {
  const keys = service(HOST, { ports: [PORT], ...given });
  const read = meshReader({ settings: SETTINGS, services: [keys], ...world });
  const route = [{ destination: { host: HOST, port: { number: PORT.port } }, weight: 1 }];
  const weighted = routePlan(read, [...route, { ...route[0]!, weight: 2 }], PORT, "owner");
  const plan = servicePlan(read, keys, PORT);
  assert.equal(weighted?.protocol, plan.protocol);
  return { protocol: plan.protocol, asked: read.asked };
}

Deno.test("commands of Redis are parsed towards endpoints, and are bytes if the dialled address or a server name decides", () => {
  assert.equal(understood({}).protocol, "Redis");
  assert.equal(understood({ resolution: "dns" }).protocol, "Redis");
  assert.equal(understood({ resolution: "passthrough" }).protocol, "TCP");
  assert.equal(understood({ resolution: "dynamicDns" }).protocol, "TCP");
  const simple = "PASSTHROUGH" as const;
  const destinationRules = { [HOST]: rule(HOST, { trafficPolicy: { loadBalancer: { simple } } }) };
  assert.equal(understood({}, { destinationRules }).protocol, "TCP");
});

Deno.test("where nothing understands Redis nobody asks how its endpoints are found", () => {
  const { protocol, asked } = understood({ resolution: "passthrough" }, { settings: { databases: [] } });
  assert.equal(protocol, "Redis");
  assert.ok(!asked.some((question) => question.includes("originalDestination")), asked.join());
});

Deno.test("a workload's own port carries commands of Redis as bytes: its cluster dials what the client dialled", () => {
  const target: InboundTarget = { port: 6379, servicePort: PORT, captureMode: "DEFAULT", fromSidecarIngress: false };
  const built = inboundListeners(meshReader({ settings: SETTINGS }), [target]).listeners;
  const names = built.flatMap(({ message }) => message.filter_chains ?? [])
    .flatMap(({ filters }) => filters ?? []).map(({ name }) => name);
  assert.ok(names.includes("envoy.filters.network.tcp_proxy"));
  assert.ok(!names.includes(REDIS), names.join());
});
