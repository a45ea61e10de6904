/** Selection of Ingresses: annotation before class, class before mode; the default class for objects of files. */
import assert from "node:assert/strict";
import type { MeshConfig } from "../../lib/config/mesh/types.ts";
import { fact, IngressWorld, type Manifest } from "./world.ts";

type Mode = MeshConfig["ingressControllerMode"];

const API = { from: "api", source: "c", uid: "1" } as const;

function ingress(annotation: string | undefined, className: string | undefined): Manifest {
  const annotations = annotation === undefined ? {} : { "kubernetes.io/ingress.class": annotation };
  const backend = { service: { name: "web", port: { number: 80 } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", namespace: "shop", annotations },
    spec: { defaultBackend: backend, ...(className === undefined ? {} : { ingressClassName: className }) },
  };
}

function classNamed(name: string, controller: string, isDefault = false, created = "2026-01-01T00:00:00Z"): Manifest {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: {
      name,
      creationTimestamp: created,
      annotations: isDefault ? { "ingressclass.kubernetes.io/is-default-class": "true" } : {},
    },
    spec: { controller },
  };
}

const CLASSES = [
  classNamed("ours", "mesh.io/ingress-controller"),
  classNamed("istio", "istio.io/ingress-controller"),
  classNamed("other", "example.com/other"),
];

function isServed(mode: Mode, one: Manifest, ...classes: readonly Manifest[]): boolean {
  const world = new IngressWorld({ ingressControllerMode: mode });
  world.put(fact(one), ...classes.map((each) => fact(each)));
  return world.store.list("Gateway").length === 1;
}

const cases: readonly [Mode, string | undefined, string | undefined, boolean][] = [
  ["STRICT", undefined, undefined, false],
  ["DEFAULT", undefined, undefined, true],
  ["OFF", undefined, undefined, false],
  ["UNSPECIFIED", undefined, undefined, false],
  ["STRICT", "mesh", undefined, true],
  ["DEFAULT", "mesh", undefined, true],
  ["OFF", "mesh", undefined, false],
  ["STRICT", "nginx", undefined, false],
  ["DEFAULT", "nginx", undefined, false],
  ["STRICT", undefined, "ours", true],
  ["STRICT", undefined, "istio", true],
  ["DEFAULT", undefined, "ours", true],
  ["OFF", undefined, "ours", false],
  ["STRICT", undefined, "other", false],
  ["DEFAULT", undefined, "other", false],
  ["STRICT", undefined, "absent", false],
  ["DEFAULT", undefined, "absent", true],
  ["STRICT", "nginx", "ours", false],
  ["STRICT", "mesh", "other", true],
];

for (const [mode, annotation, className, served] of cases) {
  const name = `mode ${mode}, annotation ${annotation ?? "absent"}, class ${className ?? "absent"}`;
  Deno.test(`${name}: ${served ? "served" : "not served"}`, () => {
    assert.equal(isServed(mode, ingress(annotation, className), ...CLASSES), served);
  });
}

Deno.test("an Ingress of a file that names no class is of the default class, of several the newest", () => {
  const bare = ingress(undefined, undefined);
  const ours = classNamed("ours", "mesh.io/ingress-controller", true);
  const newer = classNamed("other", "example.com/other", true, "2026-02-01T00:00:00Z");
  assert.equal(isServed("STRICT", bare, ours), true);
  assert.equal(isServed("STRICT", bare, ours, newer), false);
  assert.equal(isServed("DEFAULT", bare, ours, newer), false);
});

Deno.test("an Ingress of the API is not of the default class, which the API server would have written into it", () => {
  const world = new IngressWorld();
  world.put(fact(classNamed("ours", "mesh.io/ingress-controller", true)), fact(ingress(undefined, undefined), API));
  assert.deepEqual(world.objects(), []);
});

Deno.test("an Ingress from another source than the services is not served", () => {
  const world = new IngressWorld();
  world.put(fact(ingress("mesh", undefined), API));
  assert.deepEqual(world.objects(), []);
});
