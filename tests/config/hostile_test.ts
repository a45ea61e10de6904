/** Objects that are legal YAML and enormous: validation ends, and the findings stay few and short. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import { inFile } from "./origins.ts";

/** So many that a quadratic rule would take minutes. */
const MANY = 100_000;
const many = <T>(make: (index: number) => T, count = MANY): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const route = [{ destination: { host: "a" } }];

const HOSTILE: readonly (readonly [string, string, unknown])[] = [
  ["hosts", "VirtualService", { hosts: many((i) => `h${i}.com`), http: [{ route }] }],
  ["wildcard hosts", "VirtualService", { hosts: many((i) => `*.h${i}.com`), http: [{ route }] }],
  ["equal hosts", "VirtualService", { hosts: many(() => "a.com"), http: [{ route }] }],
  ["SNI hosts", "VirtualService", {
    hosts: many((i) => `h${i}.com`),
    tls: [{ match: [{ sniHosts: many((i) => `x${i}.com`) }], route }],
  }],
  ["prefix rules", "VirtualService", {
    hosts: ["a"],
    http: many((i) => ({ match: [{ uri: { prefix: `/${"a".repeat(i % 50)}` } }], route }), 20_000),
  }],
  ["weights", "VirtualService", {
    hosts: ["a"],
    http: [{ route: many(() => ({ destination: { host: "a" }, weight: 1 })) }],
  }],
  ["unknown fields", "VirtualService", Object.fromEntries(many((i) => [`hosst${i}`, i]))],
  ["unknown fields of many routes", "VirtualService", {
    hosts: ["a"],
    http: many(() => ({ retires: {}, route }), 50_000),
  }],
  ["wrong values", "VirtualService", { hosts: many((i) => i), http: [{ route }] }],
  ["one enormous wrong value", "DestinationRule", { host: many(() => "x".repeat(20)) }],
  ["subsets", "DestinationRule", { host: "a", subsets: many((i) => ({ name: `s${i}`, labels: { a: "b" } })) }],
  ["localities", "DestinationRule", {
    host: "a",
    trafficPolicy: {
      outlierDetection: {},
      loadBalancer: { localityLbSetting: { distribute: many((i) => ({ from: `r${i}`, to: { a: 100 } })) } },
    },
  }],
  ["a Maglev table near 2^53", "DestinationRule", {
    host: "a",
    trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true, maglev: { tableSize: 9007199254740881 } } } },
  }],
  ["endpoints", "ServiceEntry", {
    hosts: ["a.b"],
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    resolution: "STATIC",
    endpoints: many((i) => ({ address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, ports: { nope: 1 } })),
  }],
  ["ports", "ServiceEntry", { hosts: ["a.b"], ports: many((i) => ({ number: i, name: `p${i}`, protocol: "HTTP" })) }],
  ["egress hosts", "Sidecar", { egress: [{ hosts: many((i) => `n${i}/a.b`) }] }],
  ["servers", "Gateway", {
    servers: many((i) => ({ port: { number: 80, name: `p${i}`, protocol: "HTTP" }, hosts: ["*"] })),
  }],
  ["exportTo", "DestinationRule", { host: "a", exportTo: many((i) => `n${i}`) }],
];

for (const [name, kind, spec] of HOSTILE) {
  Deno.test({
    name: `an object with a hundred thousand of them has few and short findings: ${name}`,
    permissions: "none",
    fn() {
      const tree = { apiVersion: "networking.mesh.io/v1", kind, metadata: { name: "a" }, spec };
      const { findings } = parseObject(tree, inFile("a.yaml"), { defaultNamespace: "default" });
      assert.ok(findings.length <= 202);
      for (const { message } of findings) assert.ok(message.length < 1000, message.slice(0, 2000));
    },
  });
}
