/**
 * The common parts of proxies in many namespaces are held once: `diff` and `check` look at the proxies of all
 * namespaces.
 */
import assert from "node:assert/strict";
import { meshOf } from "./mesh_of.ts";

const NAMESPACES = 30;
const SERVICES = 20;

/** Services in each namespace. All see all, and each namespace has short names for its own services. */
function files(): Record<string, string> {
  const text = (namespace: number) =>
    Array.from({ length: SERVICES }, (_, i) =>
      `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: s${i}, namespace: ns-${namespace} }
spec:
  hosts: [s${i}.ns-${namespace}.svc.cluster.local]
  addresses: [10.1.${namespace}.${i + 1}]
  location: MESH_INTERNAL
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.2.${namespace}.${i + 1}, labels: { app: s${i} } }]
`).join("---\n");
  return Object.fromEntries(Array.from({ length: NAMESPACES }, (_, i) => [`ns-${i}.yaml`, text(i)]));
}

/** Counts entries put into maps during some work; a copy of a map counts each entry. */
function entriesPut(work: () => void): number {
  const { set } = Map.prototype;
  let count = 0;
  Map.prototype.set = function (key: unknown, value: unknown) {
    count++;
    return set.call(this, key, value);
  };
  try {
    work();
  } finally {
    Map.prototype.set = set;
  }
  return count;
}

Deno.test("a proxy of one more namespace adds what is its own, not one more copy of all virtual hosts", () => {
  const mesh = meshOf(files());
  const node = (namespace: number) => ({
    id: `sidecar~10.2.${namespace}.1~s0.ns-${namespace}~ns-${namespace}.svc.cluster.local`,
    metadata: { NAMESPACE: `ns-${namespace}`, LABELS: { app: "s0" } },
  });
  // Later namespaces begin as copies of the second.
  for (const namespace of [0, 1]) mesh.join(node(namespace));
  const others = NAMESPACES - 2;
  const put = entriesPut(() => {
    for (let i = 0; i < others; i++) mesh.join(node(i + 2));
  });
  const hosts = NAMESPACES * SERVICES;
  // Maps of results, of virtual hosts, and of the six domains of each were copied for each namespace: nine a host.
  assert.ok(put / others < 2 * hosts, `${put / others} entries a namespace for ${hosts} hosts`);
});
