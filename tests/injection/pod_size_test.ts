import assert from "node:assert/strict";
import { readPod } from "../../lib/injection/pod.ts";
import { inject, injected } from "./support.ts";

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`example.com/k${i}`, "v"]));
const list = <T>(count: number, item: (i: number) => T) => Array.from({ length: count }, (_, i) => item(i));
const pod = (metadata: object, spec: object = {}) => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [{ name: "app" }], ...spec },
});

function problems(tree: unknown): readonly string[] {
  const read = readPod(tree);
  return "problems" in read ? read.problems : [];
}

Deno.test("a pod with 2,000 labels and annotations is injected, one with more is refused before its parts are read", () => {
  assert.equal(inject({ pod: pod({ labels: many(2000), annotations: many(2000) }) }).kind, "injected");
  assert.deepEqual(problems(pod({ labels: many(2001), annotations: { ...many(300_000), wrong: 1 } })), [
    "metadata.labels: got 2001, expected at most 2000",
    "metadata.annotations: got 300001, expected at most 2000",
  ]);
});

Deno.test("annotations of more bytes than the API takes are refused, counted as it counts them", () => {
  const most = 262_144;
  assert.deepEqual(problems(pod({ annotations: { a: "x".repeat(most - 1) } })), []);
  assert.deepEqual(problems(pod({ annotations: { a: "ä".repeat(most / 2) } })), [
    `metadata.annotations: got ${most + 1} bytes of keys and values, expected at most ${most}`,
  ]);
});

Deno.test("a pod of too many containers, too many values or too deep a tree is refused, each with its limit", () => {
  const containers = list(501, (i) => ({ name: `c${i}` }));
  assert.deepEqual(problems(pod({}, { initContainers: containers })), [
    "spec.initContainers: got 501, expected at most 500",
  ]);
  const volumes = list(20_000, (i) => ({ name: `v${i}`, emptyDir: {} }));
  assert.deepEqual(problems(pod({}, { volumes })), ["the pod: got more than 50000 values, expected at most as many"]);
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  assert.deepEqual(problems(pod({}, { deep })), ["the pod: got more than 60 lists and objects inside of each other"]);
});

Deno.test("a template that is named 32,000 times is applied once, and names without a template are said ten times", () => {
  const templates = (text: string) => pod({ annotations: { "inject.istio.io/templates": text } });
  const once = injected({ pod: templates("sidecar") });
  const often = injected({ pod: templates("sidecar,".repeat(32_000)) });
  assert.deepEqual(often.spec, once.spec);
  const result = inject({ pod: templates(list(20_000, (i) => `t${i}`).join(",")) });
  assert(result.kind === "refused");
  assert.equal(result.problems.length, 11);
  assert.equal(result.problems.at(-1), "templates: got 19990 more that do not exist");
});

Deno.test("the annotation of settings and lists of ports are refused by their length before they are read", () => {
  const result = inject({
    pod: pod({
      annotations: {
        "proxy.istio.io/config": "concurrency: 1\n".repeat(10_000),
        "traffic.sidecar.istio.io/excludeOutboundPorts": "1,".repeat(20_000),
      },
    }),
  });
  assert(result.kind === "refused");
  assert.deepEqual(result.problems, [
    "annotation traffic.sidecar.mesh.io/excludeOutboundPorts: got 40000 characters, expected at most 16384",
    "annotation proxy.mesh.io/config: got 150000 characters, expected at most 65536",
  ]);
});
