/** Usual services and slices of endpoints are read without a schema. */
import fc from "fast-check";
import assert from "node:assert/strict";
import type { z } from "zod";
import { endpointSlice, service } from "../../../lib/config/facts/service_schema.ts";
import { usualEndpoints, usualSlice } from "../../../lib/config/facts/usual_endpoints.ts";
import { usualService } from "../../../lib/config/facts/usual_services.ts";
import { runs } from "../../properties.ts";

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const odd = fc.constantFrom<unknown>(null, 1, 1.5, 2 ** 60, "true", [], {}, [1], { kind: 1 });
const one = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: maybe(value) as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });
const some = <T>(value: fc.Arbitrary<T>) => one(fc.array(one(value), { maxLength: 3 }));

const protocol = one(fc.constantFrom("TCP", "UDP"));
const number = one(fc.integer({ min: 0, max: 70_000 }));
const endpoint = fc.record({
  addresses: fc.oneof({
    weight: 20,
    arbitrary: fc.array(fc.ipV4(), { minLength: 1, maxLength: 2 }) as fc.Arbitrary<unknown>,
  }, { weight: 1, arbitrary: odd }),
  conditions: one(fc.record({ ready: one(fc.boolean()), serving: one(fc.boolean()), terminating: one(fc.boolean()) })),
  nodeName: one(fc.string()),
  zone: one(fc.string()),
  hostname: odd,
  targetRef: one(fc.record({ kind: one(fc.constantFrom("Pod", "Node")), name: one(fc.constantFrom("", "a")) })),
});

const anySlice = fc.record({
  metadata: one(fc.record({ labels: one(fc.record({ "kubernetes.io/service-name": one(fc.string()) })) })),
  addressType: one(fc.constantFrom("IPv4", "IPv6", "FQDN")),
  endpoints: some(endpoint),
  ports: some(fc.record({ name: one(fc.string()), port: number, protocol, appProtocol: one(fc.string()) })),
});

const anyService = fc.record({
  spec: one(fc.record({
    type: one(fc.constantFrom("ClusterIP", "ExternalName")),
    clusterIP: one(fc.constantFrom("None", "10.0.0.1", "")),
    clusterIPs: some(fc.ipV4()),
    externalIPs: some(fc.ipV4()),
    externalName: one(fc.string()),
    selector: one(fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 })),
    ports: some(fc.record({
      ...{ name: one(fc.string()), port: number, protocol, appProtocol: one(fc.string()), nodePort: number },
      targetPort: fc.oneof(number, one(fc.string())),
    })),
    publishNotReadyAddresses: one(fc.boolean()),
    trafficDistribution: one(fc.string()),
    internalTrafficPolicy: one(fc.constantFrom("Local", "Cluster")),
  })),
  status: one(fc.record({
    loadBalancer: one(fc.record({ ingress: some(fc.record({ ip: one(fc.ipV4()), hostname: one(fc.domain()) })) })),
  })),
});

function agrees(any: fc.Arbitrary<unknown>, quick: (tree: unknown) => unknown, schema: z.ZodType): void {
  let usual = 0;
  fc.assert(
    fc.property(any, (raw) => {
      const tree = JSON.parse(JSON.stringify(raw));
      const read = quick(tree);
      if (read === undefined) return;
      usual++;
      // As text, too: hashes are made of the text, and the order of fields counts there.
      assert.equal(JSON.stringify(read), JSON.stringify(schema.parse(tree)));
    }),
    { numRuns: runs(3000) },
  );
  assert.ok(usual > 200, `${usual} objects were usual`);
}

Deno.test("slices are read without the schema as with it, and slices that the schema refuses are left to it", () => {
  agrees(anySlice, usualSlice, endpointSlice);
});

Deno.test("services are read without the schema as with it, and services that the schema refuses are left to it", () => {
  agrees(anyService, usualService, service);
});

Deno.test("endpoints as orchestrators write them need no schema", () => {
  const pod = {
    addresses: ["10.0.0.1"],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: "n1",
    zone: "z1",
    targetRef: { kind: "Pod", namespace: "shop", name: "cart-1", uid: "u" },
  };
  assert.deepEqual(usualEndpoints([pod, { addresses: ["10.0.0.2"] }]), [
    {
      addresses: ["10.0.0.1"],
      ready: true,
      serving: true,
      terminating: false,
      nodeName: "n1",
      zone: "z1",
      pod: "cart-1",
    },
    { addresses: ["10.0.0.2"], ready: true },
  ]);
});

Deno.test("a service as an API server gives it needs no schema", () => {
  const spec = {
    ...{ type: "LoadBalancer", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], selector: { app: "cart" } },
    ...{ ports: [{ name: "http", port: 80, protocol: "TCP", targetPort: "web", nodePort: 30_080 }] },
    ...{
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    },
  };
  assert.deepEqual(usualService({ spec, status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } }), {
    ...{ type: "LoadBalancer", clusterIPs: ["10.0.0.1"], externalIPs: [], selector: { app: "cart" } },
    ports: [{ name: "http", port: 80, protocol: "TCP", targetPort: "web", nodePort: 30_080 }],
    ...{ loadBalancers: ["192.0.2.1"], internalTrafficPolicy: "Cluster" },
  });
});
