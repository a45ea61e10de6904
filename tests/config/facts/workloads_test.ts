/** Fields read from workloads, for every place of pods in an object. */
import assert from "node:assert/strict";
import { readFact } from "../../../lib/config/facts/read.ts";
import { WORKLOAD_KINDS } from "../../../lib/config/facts/workload_data.ts";
import { formatFinding } from "../../../lib/finding/finding.ts";
import { inFile } from "../origins.ts";
import { fact, manifest } from "./manifests.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const metadata = {
  labels: { app: "cart", "istio.io/rev": "canary" },
  annotations: { "sidecar.istio.io/inject": "false", "example.com/note": "long" },
};
const spec = {
  serviceAccountName: "cart",
  hostNetwork: true,
  securityContext: { runAsUser: 1337, fsGroup: 1 },
  initContainers: [{ name: "wait", image: "wait:1" }],
  containers: [{
    ...{ name: "cart", image: "cart:1", env: [{ name: "A", value: "b" }], securityContext: { runAsUser: 7 } },
    ports: [{ containerPort: 8080, name: "http" }, { containerPort: 53, protocol: "UDP" }],
  }],
};
const pods = {
  labels: { app: "cart", "mesh.io/rev": "canary" },
  annotations: { "sidecar.mesh.io/inject": "false" },
  serviceAccount: "cart",
  hostNetwork: true,
  containers: [
    {
      ...{ name: "cart", image: "cart:1", init: false, runAsUser: 7 },
      ports: [{ name: "http", port: 8080, protocol: "TCP" }, { name: "", port: 53, protocol: "UDP" }],
    },
    { name: "wait", image: "wait:1", init: true, ports: [] },
  ],
  runAsUser: 1337,
};
const template = { template: { metadata, spec } };

for (const kind of WORKLOAD_KINDS) {
  test(`the pods of a ${kind} have the same shape as all others, and nothing that nobody reads`, () => {
    const tree = kind === "Pod"
      ? manifest(kind, "shop", "cart", { metadata, spec })
      : manifest(kind, "shop", "cart", { spec: kind === "CronJob" ? { jobTemplate: { spec: template } } : template });
    const counted = ["Deployment", "StatefulSet", "ReplicaSet"].includes(kind);
    assert.deepEqual(fact(tree).spec, { ...pods, ...(counted ? { replicas: 1 } : {}) });
  });
}

test("a pod of a cluster has its owner, its addresses and its phase; a workload scaled to zero has zero replicas", () => {
  const owned = manifest("Pod", "shop", "cart-x", {
    metadata: { ownerReferences: [{ kind: "ReplicaSet", name: "cart-1", controller: true, uid: "1" }] },
    spec: { containers: [] },
    status: { phase: "Running", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] },
  });
  const { owner, addresses, phase } = fact(owned).spec as unknown as Record<string, unknown>;
  assert.deepEqual([owner, addresses, phase], ["ReplicaSet/cart-1", ["10.0.0.1", "fd00::1"], "Running"]);
  const none = fact(manifest("Deployment", "shop", "cart", { spec: { ...template, replicas: 0 } }));
  assert.equal((none.spec as { replicas?: number }).replicas, 0);
});

test("an object that an orchestrator is to name has the beginning of its name", () => {
  const job = { ...manifest("Job", "shop", "x"), metadata: { generateName: "nightly-", namespace: "shop" } };
  assert.equal(fact(job).key, "Job/shop/nightly");
});

test("mistakes in pods are named with their path, and labels once", () => {
  const wrong = manifest("Deployment", "shop", "cart", {
    metadata: { labels: { a: 1 } },
    spec: { template: { spec: { containers: [{ image: "x", ports: [{ containerPort: "http" }] }] } } },
  });
  const { findings } = readFact("Deployment", wrong, inFile("a.yaml"), { digestKey: new Uint8Array(32) });
  assert.deepEqual(findings.map(formatFinding).map((text) => text.split("error: ")[1]), [
    "metadata.labels.a: 1, expected a string (put it in quotes)",
    "spec.template.spec.containers[0].name is missing, expected a string",
    'spec.template.spec.containers[0].ports[0].containerPort: "http", expected an integer',
  ]);
});

test("data encrypted by sops is not a mistake", () => {
  const tree = { ...manifest("Secret", "shop", "a", { data: { "tls.key": "ENC[AES256_GCM,data:x]" } }), sops: {} };
  const { spec } = fact(tree);
  assert.deepEqual(Object.keys((spec as { data: object }).data), ["tls.key"]);
});
