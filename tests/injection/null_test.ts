import assert from "node:assert/strict";
import fc from "fast-check";
import { readInjectionConfig } from "../../lib/injection/config.ts";
import { readPod } from "../../lib/injection/pod.ts";
import { readValues } from "../../lib/injection/values.ts";
import { withoutNullFields } from "../../lib/kernel/json/absent.ts";
import { injected } from "./support.ts";

const EVERYTHING = {
  global: {
    ...{
      hub: "h",
      tag: "t",
      imagePullPolicy: "Always",
      imagePullSecrets: ["a"],
      network: "n",
      logging: { level: "x" },
    },
    proxy: {
      ...{ logLevel: "info", statusPort: 1, startupProbe: { enabled: false }, includeInboundPorts: "80" },
      ...{ resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: 1 } }, lifecycle: { preStop: {} } },
    },
    proxy_init: { image: "i", resources: { limits: { cpu: "1" } } },
  },
  pilot: { cni: { enabled: true } },
  gateways: { securityContext: { runAsUser: 1 } },
};

/** The tree with null, or with nothing, in the place of each chosen field. */
function dropped(tree: unknown, choose: () => boolean, how: "null" | "absent"): unknown {
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) return tree;
  return Object.fromEntries(
    Object.entries(tree).flatMap(([key, value]) => {
      if (!choose()) return [[key, dropped(value, choose, how)]];
      return how === "null" ? [[key, null]] : [];
    }),
  );
}

Deno.test("null in the values is as if the value were not there, at every place", () => {
  fc.assert(fc.property(fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }), (choices) => {
    const chooser = () => {
      let at = 0;
      return () => choices[at++ % choices.length]!;
    };
    assert.deepEqual(
      readValues(dropped(EVERYTHING, chooser(), "null")),
      readValues(dropped(EVERYTHING, chooser(), "absent")),
    );
  }));
});

Deno.test("a limit of null is no limit", () => {
  const values = {
    global: { proxy: { resources: { limits: { cpu: null, memory: "1Gi" }, requests: { cpu: "100m" } } } },
  };
  const pod = injected({ values, pod: { metadata: { name: "p" }, spec: { containers: [{ name: "app" }] } } });
  const proxy = pod.spec.containers.find(({ name }) => name === "mesh-proxy");
  assert.deepEqual(proxy?.resources, { limits: { memory: "1Gi" }, requests: { cpu: "100m" } });
});

Deno.test("null in the configuration and in a pod is as if the field were not there", () => {
  assert.deepEqual(
    readInjectionConfig({ policy: null, templates: { a: null }, aliases: null, injectedAnnotations: { a: null } }),
    readInjectionConfig({ templates: {}, injectedAnnotations: {} }),
  );
  const read = readPod({
    metadata: { name: "p", labels: null, creationTimestamp: null },
    spec: { containers: [{ name: "app", env: null, securityContext: null }], volumes: null, hostNetwork: null },
  });
  assert("pod" in read);
  assert.deepEqual(read.pod, { metadata: { name: "p" }, spec: { containers: [{ name: "app" }] } });
});

Deno.test("elements of lists that are null keep their places", () => {
  assert.deepEqual(withoutNullFields({ a: [null, { b: null }], c: null }), { a: [null, {}] });
});

Deno.test("a wrong value is refused in our words, wherever it stands", () => {
  const wrong = {
    global: {
      ...{ tag: true, logAsJson: "x", imagePullSecrets: "x", multiCluster: 1 },
      proxy: { lifecycle: 5, statusPort: "x", includeInboundPorts: true, resources: { limits: { cpu: true } } },
    },
    gateways: { securityContext: [] },
  };
  const read = readValues(wrong);
  assert("problems" in read);
  assert.deepEqual(read.problems, [
    "global.tag: got true, expected a text or a number",
    'global.imagePullSecrets: got "x", expected a list of texts',
    'global.logAsJson: got "x", expected true or false',
    "global.multiCluster: got 1, expected an object",
    "global.proxy.includeInboundPorts: got true, expected a list of ports as a text",
    'global.proxy.statusPort: got "x", expected a whole number',
    "global.proxy.resources.limits.cpu: got true, expected a text or a number",
    "global.proxy.lifecycle: got 5, expected an object",
    "gateways.securityContext: got an array, expected an object",
  ]);
});
