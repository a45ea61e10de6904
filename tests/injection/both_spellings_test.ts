import assert from "node:assert/strict";
import { injected } from "./support.ts";

const resources = { limits: { cpu: "11m", memory: "20Mi" } };
const pod = (initContainers: object[], more: object = {}) => ({
  metadata: { name: "p" },
  spec: { initContainers, containers: [{ name: "app", image: "a" }], ...more },
});
const cni = { pilot: { cni: { enabled: true } } };
const inits = (one: ReturnType<typeof injected>) =>
  one.spec.initContainers!.map(({ name, image, resources }) => ({ name, image, resources }));
const IMAGE = "docker.io/mesh/proxy:1.0.0";

Deno.test("a pod's own init container of either spelling is the injected one under its name, with its resources", () => {
  for (const name of ["mesh-init", "istio-init"]) {
    const own = { name, image: "auto", resources };
    assert.deepEqual(inits(injected({ pod: pod([own]) })), [{ name, image: IMAGE, resources: merged }]);
  }
  for (const name of ["mesh-validation", "istio-validation"]) {
    const own = { name, image: "auto", resources };
    assert.deepEqual(inits(injected({ values: cni, pod: pod([own]) })), [{ name, image: IMAGE, resources: merged }]);
  }
});

/** The requests are the values'. */
const merged = { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "11m", memory: "20Mi" } };

Deno.test("where the node's plugin redirects, no container stays by whose name the plugin would pass the pod on", () => {
  for (const name of ["mesh-init", "istio-init"]) {
    const one = injected({ values: cni, pod: pod([{ name, image: "auto", resources }]) });
    assert.deepEqual(inits(one), [{ name: "mesh-validation", image: IMAGE, resources: merged }]);
    assert.deepEqual(injected({ values: cni, pod: one }), one);
  }
});

Deno.test("an init container with an image of its own, which redirects by itself, stays as it is", () => {
  const own = { name: "istio-init", image: "own/init", resources };
  const found = inits(injected({ values: cni, pod: pod([own]) }));
  assert.deepEqual(found.find(({ name }) => name === "istio-init"), own);
});

Deno.test("a pod's volume of Istio's name is the injected one, and the proxy mounts it", () => {
  const { spec } = injected({ pod: pod([], { volumes: [{ name: "istio-data", emptyDir: { sizeLimit: "1Gi" } }] }) });
  assert.deepEqual(spec.volumes!.filter(({ name }) => /-data$/.test(name)), [
    { name: "istio-data", emptyDir: { sizeLimit: "1Gi" } },
  ]);
  const proxy = spec.containers.find(({ name }) => name === "mesh-proxy")!;
  assert.equal(proxy.volumeMounts!.find(({ mountPath }) => mountPath === "/var/lib/mesh/data")?.name, "istio-data");
});

Deno.test("a container whose image is left to injection has no pull policy that the API made up of its placeholder", () => {
  const of = (own: object, values: object = {}) =>
    injected({
      values,
      pod: { metadata: { name: "p" }, spec: { containers: [{ name: "istio-proxy", image: "auto", ...own }] } },
    }).spec.containers[0]!["imagePullPolicy"];
  assert.equal(of({ imagePullPolicy: "Always" }), undefined);
  assert.equal(of({ imagePullPolicy: "Always" }, { global: { imagePullPolicy: "IfNotPresent" } }), "IfNotPresent");
  assert.equal(of({ imagePullPolicy: "Never" }), "Never");
  assert.equal(of({ imagePullPolicy: "Always", image: "own/proxy:1" }), "Always");
});

Deno.test("annotations of Prometheus count in each spelling that Prometheus takes, and none of another spelling stays", () => {
  for (const [scrape, path, port] of SPELLINGS) {
    const { metadata, spec } = injected({
      pod: {
        metadata: { name: "p", annotations: { [scrape!]: "true", [path!]: "/m", [port!]: "9090", other: "x" } },
        spec: { containers: [{ name: "app", image: "a" }] },
      },
    });
    const proxy = spec.containers.find(({ name }) => name === "mesh-proxy")!;
    assert.equal(
      proxy.env!.find(({ name }) => name === "MESH_METRICS_ANNOTATIONS")?.value,
      '{"scrape":"true","path":"/m","port":"9090"}',
    );
    const kept = Object.entries(metadata.annotations!).filter(([key]) => /prometheus/.test(key));
    assert.deepEqual(Object.fromEntries(kept), {
      "prometheus.io/scrape": "true",
      "prometheus.io/path": "/stats/prometheus",
      "prometheus.io/port": "15020",
    });
  }
});

const SPELLINGS = ["prometheus.io/", "prometheus.io.", "prometheus_io_", "prometheus-io/"].map((prefix) =>
  ["scrape", "path", "port"].map((word) => prefix + word)
);

Deno.test("scraping is off by a no in any spelling", () => {
  for (const [scrape] of SPELLINGS) {
    const { metadata } = injected({
      pod: { metadata: { name: "p", annotations: { [scrape!]: "false" } }, spec: { containers: [{ name: "app" }] } },
    });
    assert.equal(Object.hasOwn(metadata.annotations!, "prometheus.io/port"), false);
  }
});
