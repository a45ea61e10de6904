/** In a cluster with Istio's injector a pod has one proxy, whichever injector comes first. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { inject, injected } from "./support.ts";
import { runs } from "../properties.ts";

const app = {
  name: "app",
  image: "cart:1",
  readinessProbe: { httpGet: { path: "/app-health/app/readyz", port: 15020 } },
};
const proxy = { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.30.0", args: ["proxy", "sidecar"] };
const init = { name: "istio-init", image: "docker.io/istio/proxyv2:1.30.0", args: ["istio-iptables"] };
const KEY = "sidecar.istio.io/status";

/** What Istio's injector notes about the containers that it added. */
const status = (names: { readonly containers?: readonly string[]; readonly initContainers?: readonly string[] }) =>
  JSON.stringify({
    ...{ initContainers: null, containers: null, volumes: ["istio-envoy"], imagePullSecrets: null },
    ...{ revision: "default", ...names },
  });

/** A pod after Istio's injector. */
function ofIstio(labels: Readonly<Record<string, string>> = {}, native = false) {
  const containers = native ? [app] : [app, proxy];
  const initContainers = native ? [init, { ...proxy, restartPolicy: "Always" }] : [init];
  const names = native
    ? { initContainers: ["istio-init", "istio-proxy"] }
    : { containers: ["istio-proxy"], initContainers: ["istio-init"] };
  return {
    metadata: { name: "p", labels, annotations: { [KEY]: status(names) } },
    spec: { containers, initContainers },
  };
}

Deno.test("a pod with Istio's proxy keeps that proxy, as container and as native sidecar, whatever labels ask for", () => {
  for (const native of [false, true]) {
    for (const labels of [{}, { "sidecar.mesh.io/inject": "true" }, { "sidecar.istio.io/inject": "true" }]) {
      const result = inject({ pod: ofIstio(labels, native) });
      assert.equal(result.kind, "skipped", JSON.stringify(labels));
      assert.match(result.kind === "skipped" ? result.reason : "", /Istio's injector/);
    }
  }
});

Deno.test("the author of such a pod is told how the pod moves, in a line that kubectl prints whole", () => {
  const result = inject({ pod: ofIstio() });
  assert.ok(result.kind === "skipped");
  const [warning = "", ...more] = result.warnings ?? [];
  assert.deepEqual(more, []);
  for (const label of ["istio-injection", "istio.io/rev", "sidecar.istio.io/inject"]) {
    assert.ok(warning.includes(label));
  }
  assert.ok(warning.length <= 256, `${warning.length} characters`);
});

Deno.test("a pod with the traces of both injectors is refused, with both annotations named", () => {
  const ours = injected({ pod: { metadata: { name: "p" }, spec: { containers: [app] } } });
  const both = {
    ...ours,
    metadata: { ...ours.metadata, annotations: { ...ours.metadata.annotations, ...ofIstio().metadata.annotations } },
    spec: { ...ours.spec, containers: [...ours.spec.containers, proxy] },
  };
  const result = inject({}, both);
  assert.ok(result.kind === "refused");
  assert.match(result.problems.join(), /sidecar\.mesh\.io\/status and sidecar\.istio\.io\/status/);
});

Deno.test("Istio's annotation without Istio's containers is a copy from another pod, and does not keep a pod out of the mesh", () => {
  const pod = { metadata: { name: "p", annotations: ofIstio().metadata.annotations }, spec: { containers: [app] } };
  const { metadata, spec } = injected({ pod });
  assert.ok(spec.containers.some(({ name }) => name === "mesh-proxy"));
  assert.equal(Object.hasOwn(metadata.annotations!, KEY), false, "the injected pod has one status");
});

Deno.test("a container of Istio's name that is left to injection is not a trace of Istio's injector", () => {
  const own = { name: "istio-proxy", image: "auto", resources: { limits: { cpu: "1" } } };
  const { spec } = injected({ pod: { metadata: { name: "p" }, spec: { containers: [app, own] } } });
  assert.deepEqual(spec.containers.map(({ name }) => name), ["app", "istio-proxy"]);
});

Deno.test("with an unreadable annotation of Istio the names of Istio's containers decide", () => {
  const annotations = { [KEY]: "{" };
  const of = (containers: object[]) => inject({ pod: { metadata: { name: "p", annotations }, spec: { containers } } });
  assert.equal(of([app, proxy]).kind, "skipped");
  assert.equal(of([app]).kind, "injected");
});

Deno.test("callers of both control planes see by a label of their own that an injected pod accepts mutual TLS", () => {
  const labelsOf = (labels: Readonly<Record<string, string>>) => {
    const pod = injected({ pod: { metadata: { name: "p", labels }, spec: { containers: [app] } } });
    const modes = Object.entries(pod.metadata.labels!).filter(([key]) => key.endsWith("/tlsMode"));
    return Object.fromEntries(modes);
  };
  assert.deepEqual(labelsOf({}), { "security.mesh.io/tlsMode": "mesh", "security.istio.io/tlsMode": "istio" });
  // The author's word counts in either spelling.
  for (const key of ["security.mesh.io/tlsMode", "security.istio.io/tlsMode"]) {
    assert.deepEqual(labelsOf({ [key]: "disabled" }), { [key]: "disabled" });
  }
});

const name = fc.constantFrom("app", "istio-proxy", "istio-init", "mesh-proxy", "web");
const containers = fc.uniqueArray(name, { maxLength: 4 }).map((names) =>
  names.map((one) => ({ name: one, image: "x" }))
);
const names = fc.uniqueArray(name, { maxLength: 3 });

Deno.test("no pod that Istio's injector noted leaves with a proxy of each (property)", () => {
  fc.assert(
    fc.property(containers, containers, names, fc.boolean(), (list, inits, noted, cni) => {
      const added = list.map((one) => one.name).filter((one) => noted.includes(one));
      const pod = {
        metadata: { name: "p", annotations: { [KEY]: status({ containers: noted }) } },
        spec: { containers: list, initContainers: inits },
      };
      const result = inject({ values: { pilot: { cni: { enabled: cni } } }, pod });
      if (result.kind !== "injected") return;
      assert.equal(added.length, 0, "a container of Istio's injector is in the pod");
      const all = [...result.pod.spec.containers, ...result.pod.spec.initContainers ?? []].map((one) => one.name);
      assert.equal(all.filter((one) => one === "mesh-proxy" || one === "istio-proxy").length, 1, all.join());
    }),
    { numRuns: runs(300) },
  );
});
