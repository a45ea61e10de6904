/** A rule for a wildcard reaches every result about a host under the wildcard, also without a shared result. */
import assert from "node:assert/strict";
import { contents, Fixture, type TestNode, texts } from "./fixture.ts";

const apiVersion = "networking.mesh.io/v1";
const gateway = {
  apiVersion,
  kind: "Gateway",
  metadata: { namespace: "b", name: "front" },
  spec: {
    selector: { app: "gw" },
    servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["x.com"] }],
  },
};
const route = {
  apiVersion,
  kind: "VirtualService",
  metadata: { namespace: "b", name: "route" },
  spec: { hosts: ["x.com"], gateways: ["front"], http: [{ route: [{ destination: { host: "z.y.com" } }] }] },
};
const rule = {
  apiVersion,
  kind: "DestinationRule",
  metadata: { namespace: "b", name: "sticky" },
  spec: { host: "*.com", trafficPolicy: { loadBalancer: { consistentHash: { httpHeaderName: "user" } } } },
};
const node: TestNode = { namespace: "b", address: "172.16.0.9", labels: { app: "gw" }, type: "router" };

Deno.test("a destination rule for a wildcard changes a gateway's route to a host that no sidecar knows", () => {
  const fixture = new Fixture();
  const state = fixture.join(node);
  fixture.put(gateway, route);
  fixture.pipeline.flush();
  assert.doesNotMatch(texts(state)["virtualHost/http.80/x.com:80"]!, /hash_policy/);
  fixture.put(rule);
  fixture.pipeline.flush();
  assert.match(texts(state)["virtualHost/http.80/x.com:80"]!, /"hash_policy":\[\{"header":\{"header_name":"user"/);
  fixture.remove("DestinationRule/b/sticky");
  fixture.pipeline.flush();
  const fresh = new Fixture();
  fresh.put(gateway, route);
  fresh.pipeline.flush();
  assert.deepEqual(contents(state), contents(fresh.join(node)));
});
