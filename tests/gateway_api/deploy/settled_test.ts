/** Whether an object in the API needs an apply, by its fields and by the fields that the manager owns. */
import assert from "node:assert/strict";
import { changesPods, isSettled } from "../../../lib/gateway_api/deploy/settled.ts";
import type { DeployedObject } from "../../../lib/gateway_api/deploy/types.ts";

const MANAGER = "mesh.io/gateway-controller";

const desired: DeployedObject = {
  ...{ apiVersion: "apps/v1", kind: "Deployment" },
  metadata: { name: "gw", namespace: "shop", labels: { a: "1" } },
  spec: {
    template: {
      spec: {
        containers: [{
          ...{ name: "p", image: "i:1", resources: { limits: { cpu: "2000m", memory: "1024Mi" } } },
          env: [{ name: "EMPTY", value: "" }, { name: "A", value: "1" }],
          ports: [{ containerPort: 15020, name: "m" }],
        }],
      },
    },
  },
};

/** As an API server stores the object, with the set of applied fields. */
function live() {
  const container = {
    ...{ name: "p", image: "i:1", imagePullPolicy: "IfNotPresent" },
    resources: { limits: { cpu: "2", memory: "1Gi" } },
    env: [{ name: "EMPTY" }, { name: "A", value: "1" }, { name: "OTHER", value: "of another manager" }],
    ports: [{ containerPort: 15020, name: "m", protocol: "TCP" }],
  };
  const fields = {
    "f:metadata": { "f:labels": { "f:a": {} } },
    "f:spec": {
      "f:template": {
        "f:spec": {
          "f:containers": {
            'k:{"name":"p"}': {
              ...{ ".": {}, "f:name": {}, "f:image": {} },
              "f:env": {
                'k:{"name":"EMPTY"}': { ".": {}, "f:name": {}, "f:value": {} },
                'k:{"name":"A"}': { ".": {}, "f:name": {}, "f:value": {} },
              },
              "f:resources": { "f:limits": { "f:cpu": {}, "f:memory": {} } },
              "f:ports": {
                'k:{"containerPort":15020,"protocol":"TCP"}': { ".": {}, "f:containerPort": {}, "f:name": {} },
              },
            },
          },
        },
      },
    },
  };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment" },
    metadata: {
      ...{
        name: "gw",
        namespace: "shop",
        labels: { a: "1", b: "of a user" },
        annotations: {} as Record<string, string>,
      },
      managedFields: [
        { manager: "kubectl", operation: "Update", fieldsV1: { "f:metadata": { "f:labels": { "f:b": {} } } } },
        { manager: MANAGER, operation: "Apply", fieldsV1: fields },
      ],
    },
    spec: { replicas: 3, template: { spec: { containers: [container] } } },
  };
}

Deno.test("an object with all desired fields needs no apply, whatever other managers and the API added", () => {
  assert.equal(isSettled(desired, live(), MANAGER), true);
  assert.equal(changesPods(desired, live(), MANAGER), false);
});

Deno.test("an object that the manager has never applied needs an apply", () => {
  assert.equal(isSettled(desired, live(), "other"), false);
  assert.equal(changesPods(desired, live(), "other"), false, "its pods stay the same, though");
});

Deno.test("a changed label needs an apply that keeps the pods", () => {
  const other = live();
  other.metadata.labels.a = "2";
  assert.equal(isSettled(desired, other, MANAGER), false);
  assert.equal(changesPods(desired, other, MANAGER), false);
});

const changes: readonly [string, (object: ReturnType<typeof live>) => void][] = [
  ["a changed image", (object) => void (object.spec.template.spec.containers[0]!.image = "i:2")],
  ["a removed variable", (object) => void object.spec.template.spec.containers[0]!.env.splice(1, 1)],
  ["another quantity", (object) => void (object.spec.template.spec.containers[0]!.resources.limits.cpu = "3")],
  ["a changed port", (object) => void (object.spec.template.spec.containers[0]!.ports[0]!.name = "x")],
];

for (const [what, change] of changes) {
  Deno.test(`${what} needs an apply that changes the pods`, () => {
    const other = live();
    change(other);
    assert.equal(isSettled(desired, other, MANAGER), false);
    assert.equal(changesPods(desired, other, MANAGER), true);
  });
}

Deno.test("a field that the manager owns and no longer wants needs an apply", () => {
  const fewer = structuredClone(desired) as DeployedObject & { metadata: { labels: Record<string, string> } };
  delete fewer.metadata.labels["a"];
  assert.equal(isSettled(fewer, live(), MANAGER), false);
  assert.equal(changesPods(fewer, live(), MANAGER), false);
  const [container] = (structuredClone(desired.spec) as ReturnType<typeof live>["spec"]).template.spec.containers;
  const without = { ...desired, spec: { template: { spec: { containers: [{ ...container, ports: [] }] } } } };
  assert.equal(changesPods(without, live(), MANAGER), true);
});
