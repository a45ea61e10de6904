import assert from "node:assert/strict";
import type { TrafficPolicy } from "../../../lib/config/kinds/destination_rule/schema.ts";
import { outboundClusterName, parseOutboundClusterName } from "../../../lib/translate/destination/names.ts";
import { portPolicy, subsetPolicy } from "../../../lib/translate/destination/policy.ts";

const random = { simple: "RANDOM" } as const;
const robin = { simple: "ROUND_ROBIN" } as const;
const pool = { tcp: { maxConnections: 1 } };
const outlier = { interval: 1 };

Deno.test("settings of a port replace the whole policy for that port, and no other", () => {
  const policy: TrafficPolicy = {
    loadBalancer: random,
    connectionPool: pool,
    portLevelSettings: [{ port: { number: 81 }, outlierDetection: outlier }],
  };
  const ofPort = portPolicy(policy, 81);
  assert.equal(ofPort.outlierDetection, outlier);
  assert.equal(ofPort.loadBalancer, undefined);
  assert.equal(ofPort.connectionPool, undefined);
  assert.equal(portPolicy(policy, 80).loadBalancer, random);
  assert.deepEqual(portPolicy(undefined, 80), {});
});

Deno.test("a subset replaces the settings that it has and keeps the rest of the rule", () => {
  const rule: TrafficPolicy = { loadBalancer: random, connectionPool: pool };
  const subset = { name: "v1", trafficPolicy: { loadBalancer: robin, outlierDetection: outlier } };
  assert.deepEqual(subsetPolicy(rule, subset, 80), {
    loadBalancer: robin,
    connectionPool: pool,
    outlierDetection: outlier,
  });
  assert.deepEqual(subsetPolicy(rule, { name: "v2" }, 80), rule);
  assert.deepEqual(subsetPolicy(undefined, subset, 80), subset.trafficPolicy);
});

Deno.test("settings of a subset for a port replace all but the PROXY protocol", () => {
  const rule: TrafficPolicy = { loadBalancer: random, connectionPool: pool, proxyProtocol: { version: "V1" } };
  const subset = {
    name: "v1",
    trafficPolicy: { loadBalancer: robin, portLevelSettings: [{ port: { number: 80 }, outlierDetection: outlier }] },
  };
  const merged = subsetPolicy(rule, subset, 80);
  assert.equal(merged.outlierDetection, outlier);
  assert.equal(merged.loadBalancer, undefined);
  assert.equal(merged.connectionPool, undefined);
  assert.deepEqual(merged.proxyProtocol, { version: "V1" });
});

Deno.test("the rule's settings of a port are the base of a subset on that port", () => {
  const rule: TrafficPolicy = {
    connectionPool: pool,
    portLevelSettings: [{ port: { number: 80 }, outlierDetection: outlier }],
  };
  const subset = { name: "v1", trafficPolicy: { loadBalancer: robin } };
  assert.deepEqual(subsetPolicy(rule, subset, 80), { loadBalancer: robin, outlierDetection: outlier });
  assert.deepEqual(subsetPolicy(rule, subset, 81), { loadBalancer: robin, connectionPool: pool });
});

Deno.test("names of outbound clusters are read back, other names are not", () => {
  const parts = { port: 80, subset: "v1", host: "a.b" };
  assert.deepEqual(parseOutboundClusterName(outboundClusterName(80, "v1", "a.b")), parts);
  assert.deepEqual(parseOutboundClusterName("outbound|80||a.b"), { ...parts, subset: "" });
  for (const name of ["", "a", "inbound|80||", "outbound|80||", "outbound|x||a", "outbound|80|a", "outbound|80||a|b"]) {
    assert.equal(parseOutboundClusterName(name), undefined, name);
  }
});
