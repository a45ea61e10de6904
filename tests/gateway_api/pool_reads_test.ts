/** How much is read for InferencePools, in numbers of reads. */
import assert from "node:assert/strict";
import { DerivationWorld, plainService } from "./derivation_world.ts";

/** As many as a route may have rules. */
const COUNT = 16;
const names = Array.from({ length: COUNT }, (_, at) => `n${at}`);

const gateway = (port: number) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "edge", namespace: "shop" },
  spec: { gatewayClassName: "mesh", listeners: [{ name: "http", port, protocol: "HTTP" }] },
});

const pool = (name: string) => ({
  apiVersion: "inference.networking.k8s.io/v1",
  kind: "InferencePool",
  metadata: { name, namespace: "shop" },
  spec: {
    selector: { matchLabels: { app: name } },
    targetPorts: [{ number: 8000 }],
    endpointPickerRef: { name: "picker", port: { number: 80 } },
  },
});

const toPool = (name: string) => ({ group: "inference.networking.k8s.io", kind: "InferencePool", name });
const toService = (name: string) => ({ name, port: 80 });

/** A route with a hostname of its own that leads to all backends. */
const routeTo = (backend: (name: string) => object) => (name: string) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "HTTPRoute",
  metadata: { name, namespace: "shop" },
  spec: {
    parentRefs: [{ name: "edge" }],
    hostnames: [`${name}.example.com`],
    rules: names.map((to) => ({ matches: [{ path: { value: `/${to}` } }], backendRefs: [backend(to)] })),
  },
});

/** The reads of objects of a kind by an edit of the Gateway. */
function readsOfEdit(world: DerivationWorld, kind: string): number {
  let reads = 0;
  const { store } = world;
  const get = store.get.bind(store);
  store.get = (...asked) => {
    if (asked[0] === kind) reads += 1;
    return get(...asked);
  };
  world.put(gateway(81));
  return reads;
}

Deno.test("an edit of a Gateway reads the Gateway for each route and each pool, not for each pair of them", () => {
  const world = new DerivationWorld(
    ...[gateway(80), plainService("picker"), ...names.map(pool), ...names.map(routeTo(toPool))],
  );
  const services = new DerivationWorld(
    gateway(80),
    ...names.map((name) => plainService(name)),
    ...names.map(routeTo(toService)),
  );
  const verdicts = names.map((name) =>
    world.verdicts.pool(`InferencePool/shop/${name}`)?.parents.map(({ accepted }) => accepted.status)
  );
  assert.deepEqual(verdicts, names.map(() => ["True"]));
  const more = readsOfEdit(world, "ApiGateway") - readsOfEdit(services, "ApiGateway");
  assert.ok(more <= 4 * COUNT, `${more} reads more than with Services, for ${COUNT} routes at ${COUNT} pools`);
});
