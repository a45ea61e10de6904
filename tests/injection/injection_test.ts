import assert from "node:assert/strict";
import fc from "fast-check";
import { applyPatch } from "rfc6902";
import { readProxyConfig } from "../../lib/config/agent_texts/proxy_config.ts";
import { readAppProbers } from "../../lib/config/agent_texts/app_probers.ts";
import { readApplicationScrape } from "../../lib/config/agent_texts/application_scrape.ts";
import { workloadOf } from "../../lib/agent/node/workload.ts";
import { jsonPatch } from "../../lib/injection/json_patch.ts";
import type { InjectedPod, PodContainer } from "../../lib/injection/pod.ts";
import { isProxy } from "../../lib/injection/sidecar/input.ts";
import { readSettings } from "../../lib/kernel/settings/read.ts";
import { inputNames } from "../golden.ts";
import { inject, injected, type InjectionCase, readCase } from "./support.ts";
import { runs } from "../properties.ts";

const folder = new URL("../testdata/injection/in/", import.meta.url);
const cases = inputNames(folder).map((name) =>
  [name, readCase(Deno.readTextFileSync(new URL(`${name}.yaml`, folder)))] as const
);

/** The proxy of a pod; undefined: none. */
function proxyOf({ spec: { containers, initContainers = [] } }: InjectedPod): PodContainer | undefined {
  return [...containers, ...initContainers].find(isProxy);
}

for (const [name, given] of cases) {
  const first = inject(given);
  if (first.kind !== "injected") continue;

  Deno.test(`injecting a pod twice is injecting it once: ${name}`, () => {
    assert.deepEqual(injected(given, first.pod), first.pod);
  });

  Deno.test(`the patch of a pod makes the injected one: ${name}`, () => {
    const pod = structuredClone(given.pod);
    assert.deepEqual(applyPatch(pod, jsonPatch(given.pod, first.pod) as never).filter((fault) => fault !== null), []);
    assert.deepEqual(pod, JSON.parse(JSON.stringify(first.pod)));
  });
}

const word = fc.constantFrom("app", "web", "db", "mesh-proxy", "mesh-init", "x-1");
const port = fc.oneof(fc.integer({ min: 1, max: 65535 }), fc.constantFrom("http", "80", "nowhere"));
const handler = fc.oneof(
  fc.record({ httpGet: fc.record({ path: fc.webPath(), port }) }),
  fc.record({ tcpSocket: fc.record({ port }) }),
  fc.record({ grpc: fc.record({ port: fc.integer({ min: 1, max: 65535 }) }) }),
  fc.constant({ exec: { command: ["true"] } }),
);
const container = fc.record({
  name: word,
  image: fc.constantFrom("auto", "shop/app"),
  ports: fc.uniqueArray(
    fc.record({ containerPort: fc.integer({ min: 1, max: 99 }), name: fc.constantFrom("http", "a") }),
    {
      selector: ({ containerPort }) => containerPort,
      maxLength: 3,
    },
  ),
  env: fc.constantFrom([], [{ name: "MESH_META_NETWORK", value: "west" }]),
  readinessProbe: handler,
  lifecycle: fc.record({ preStop: handler }, { requiredKeys: [] }),
}, { requiredKeys: ["name"] });
const someContainers = fc.uniqueArray(container, { selector: ({ name }) => name, maxLength: 4 });
const annotations = fc.dictionary(
  fc.constantFrom(
    ...["sidecar.istio.io/interceptionMode", "sidecar.mesh.io/nativeSidecar", "prometheus.io/port"],
    ...["status.sidecar.mesh.io/port", "prometheus.mesh.io/merge-metrics", "sidecar.mesh.io/rewriteAppHTTPProbers"],
    ...["sidecar.mesh.io/status", "proxy.mesh.io/overrides", "proxy.istio.io/config", "__proto__"],
  ),
  fc.oneof(
    fc.constantFrom("true", "false", "TPROXY", "NONE", "0", "15020", "9100", "{}", '{"containers":["app"]}'),
    fc.string({ maxLength: 20 }),
  ),
);
const pods = fc.record({
  metadata: fc.record({ name: fc.constant("pod"), labels: fc.dictionary(word, word), annotations }),
  spec: fc.record({ containers: someContainers, initContainers: someContainers }, { requiredKeys: ["containers"] }),
});

Deno.test("no pod makes the injector throw, and injecting twice is injecting once (property)", () => {
  fc.assert(
    fc.property(pods, fc.boolean(), (pod, cni) => {
      const given: InjectionCase = { values: { pilot: { cni: { enabled: cni } } } };
      const first = inject(given, pod);
      if (first.kind !== "injected") return assert.ok(first.kind !== "refused" || first.problems.length > 0);
      assert.deepEqual(injected(given, first.pod), first.pod);
      assert.equal(
        first.pod.spec.containers.concat(first.pod.spec.initContainers ?? []).filter(({ name }) =>
          name === "mesh-proxy"
        ).length,
        1,
      );
    }),
    { numRuns: runs(500) },
  );
});

for (const [name, given] of cases) {
  const first = inject(given);
  if (first.kind !== "injected") continue;

  const proxyContainer = proxyOf(first.pod);
  if (proxyContainer === undefined) continue;

  Deno.test(`the agent reads what injection writes: ${name}`, () => {
    const { env = [], args: [, role] = [] } = proxyContainer;
    const variables = Object.fromEntries(env.map((one) => [one.name, one.value ?? "1"]));
    const settings = readSettings("pilot-agent", variables);
    const { annotations = {}, labels = {} } = first.pod.metadata;
    const { proxy, errors, warnings } = readProxyConfig({
      ...{ mesh: "", meshFile: "", variable: settings.PROXY_CONFIG, annotations },
    });
    assert.deepEqual([errors, warnings], [[], []]);
    const faults = [
      readAppProbers(settings.MESH_ORCH_APP_PROBERS),
      readApplicationScrape(settings.MESH_METRICS_ANNOTATIONS, proxy!.statusPort),
    ].flatMap((read) => "faults" in read ? read.faults : []);
    assert.deepEqual(faults, []);
    const { node: { metadata }, problems } = workloadOf({
      ...{
        role: role === "router" ? "router" : "sidecar",
        settings,
        variables,
        labels,
        annotations,
        proxy: proxy!,
        domain: "",
        serviceCluster: "",
      },
      machine: { hostname: "pod", addresses: ["10.0.0.1"] },
      ...{ outlierLogPath: undefined, stsPort: 0, version: "1" },
    });
    assert.deepEqual(problems, []);
    assert.equal(metadata["CLUSTER_ID"], given.parameters?.cluster ?? "Orch");
    assert.equal(metadata["INTERCEPTION_MODE"], proxy!.interceptionMode);
  });
}

Deno.test("no text of a user becomes YAML in a template (property)", () => {
  const template = [
    'metadata: { annotations: { a: {{ index .ObjectMeta.Annotations `a` }}, b: "{{ .ObjectMeta.Annotations.a }}" } }',
    "spec:",
    "  containers:",
    "  - name: extra",
    "    env:",
    "    - name: A",
    "      value: x{{ index .ObjectMeta.Annotations `a` }}",
    "    - {{ toJSON (strdict `name` `J` `value` (index .ObjectMeta.Annotations `a`)) }}",
    "    {{- with .ObjectMeta.Annotations.a }}",
    "    args: [{{ . | indent 2 }}]",
    "    {{- end }}",
  ].join("\n");
  const config = { defaultTemplates: ["t"], templates: { t: template } };
  const pieces = fc.constantFrom(...[
    "a",
    ": ",
    "\n",
    "- ",
    "#",
    '"',
    "'",
    "{",
    "}",
    "]",
    ",",
    "&x",
    "*x",
    "!!t",
    "\uE0000\uE000",
    "|",
  ]);
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }).map((list) => list.join("")), (a) => {
      const pod = injected({ config }, { metadata: { name: "p", annotations: { a } }, spec: { containers: [] } });
      assert.equal(pod.metadata.annotations?.["b"], a);
      const [extra] = pod.spec.containers;
      assert.deepEqual(pod.spec.containers.length, 1);
      assert.equal(extra?.env?.[0]?.value, `x${a}`);
      assert.equal(extra?.env?.[1]?.value, a);
      assert.deepEqual(extra?.args, a === "" ? undefined : [a.split("\n").join("\n  ")]);
    }),
  );
});

Deno.test("a user decides by label before annotation, and never goes before always", () => {
  const decided = (labels: object, annotations: object, config: object) =>
    inject({ config }, { metadata: { name: "a", labels, annotations }, spec: { containers: [] } }).kind;
  const label = { "sidecar.istio.io/inject": "false" };
  const on = { "sidecar.mesh.io/inject": "true" };
  const all = [{ matchLabels: { app: "a" } }];
  assert.equal(decided(label, on, {}), "skipped");
  assert.equal(decided({ "sidecar.mesh.io/inject": "yes" }, { "sidecar.mesh.io/inject": "false" }, {}), "injected");
  assert.equal(decided({}, on, { policy: "disabled" }), "injected");
  assert.equal(decided({}, {}, { policy: "disabled" }), "skipped");
  assert.equal(decided({ app: "a" }, {}, { policy: "disabled", alwaysInjectSelector: all }), "injected");
  assert.equal(decided({ app: "a" }, {}, { neverInjectSelector: all, alwaysInjectSelector: all }), "skipped");
  assert.equal(decided({ app: "a" }, on, { neverInjectSelector: all }), "injected");
});
