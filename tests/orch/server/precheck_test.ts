/** The command `precheck` at a real API server. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { pilotDiscovery } from "../../cmd/offline.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { apiServerTests } from "../support/server/tests.ts";

const root = new URL("../../../", import.meta.url).pathname;
const test = apiServerTests();

interface Shown {
  readonly check: string;
  readonly state: string;
  readonly message: string;
}

function documents(path: string): (ObjectDraft & ObjectId)[] {
  return parseAllDocuments(Deno.readTextFileSync(root + path)).map((document) => document.toJS());
}

async function run({ access }: Pick<ApiServer, "access">, ...args: string[]) {
  const files = { config: kubeconfigOf(access) };
  const { code, out, err } = await pilotDiscovery(["precheck", "--orchconfig=config", "-o=json", ...args], { files });
  const results: Shown[] = out === "" ? [] : JSON.parse(out).results;
  return { code, err, of: (check: string) => results.filter((one) => one.check === check) };
}

test("an empty cluster lacks definitions; with those of this version the mesh can be installed", async ({ server }) => {
  const before = await run(server, "--cni");
  assert.equal(before.code, 0, before.err);
  const [kinds] = before.of("definitions");
  assert.match(kinds!.message, /^virtualservices\.networking\.mesh\.io, .* are not defined: /);
  assert.equal(before.of("Gateway API")[0]!.state, "warning");
  assert.match(before.of("orchestrator version")[0]!.message, /^v1\.\d+/);
  assert.match(before.of("rights")[0]!.message, /^all \d+ rights to install are there$/);
  assert.match(before.of("nodes")[0]!.message, /^all 0 can run/);

  const all = documents("manifests/definitions.yaml");
  for (const definition of all) await server.objects.define(definition);
  const after = await run(server);
  assert.deepEqual(after.of("definitions").map(({ state }) => state), ["ok"]);

  // An older definition without a field that this version reads.
  const [first] = all;
  const old = structuredClone(first!) as unknown as {
    spec: {
      versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } } }[];
    };
  };
  const { properties } = old.spec.versions[0]!.schema.openAPIV3Schema.properties.spec;
  const gone = Object.keys(properties)[0]!;
  delete properties[gone];
  await server.objects.define(old as unknown as ObjectDraft & ObjectId);
  const dropped = await run(server);
  assert.match(dropped.of("definitions")[0]!.message, new RegExp(`lacks spec\\.${gone}: the API drops these fields`));
  await server.objects.define(first!);
});

test("another revision's webhook for the same namespace is an error, and Istio's beside it a warning", async ({ server, namespace }) => {
  const webhook = (name: string, revision: string, key: string, value: string) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name, labels: { "istio.io/rev": revision } },
    webhooks: [{
      name: "namespace.sidecar-injector.istio.io",
      clientConfig: { service: { name: "istiod", namespace: "istio-system", path: "/inject", port: 443 } },
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
      namespaceSelector: { matchLabels: { [key]: value } },
      failurePolicy: "Ignore",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    }],
  });
  const label = (labels: Record<string, string>) =>
    server.objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
  await server.objects.apply(webhook("istio-sidecar-injector", "default", "istio-injection", "enabled"));
  await label({ "istio-injection": "enabled" });
  const beside = await run(server);
  assert.deepEqual(beside.of("injection webhooks").map(({ state }) => state), ["warning"]);
  assert.match(
    beside.of("injection webhooks")[0]!.message,
    new RegExp(`leaves pods alone that istio-sidecar-injector \\(revision default\\) injects, of ${namespace}$`),
  );
  await server.objects.apply(webhook("other-injector", "old", "mesh-injection", "enabled"));
  await label({ "mesh-injection": "enabled" });
  const twice = await run(server);
  assert.equal(twice.code, 1);
  assert.match(twice.of("injection webhooks")[0]!.message, new RegExp(`would both inject pods of ${namespace}$`));
  for (const name of ["istio-sidecar-injector", "other-injector"]) {
    await server.client.tell({
      method: "DELETE",
      path: `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`,
    });
  }
});

test("a user without rights is told which are missing; no cluster and no access are told apart", async ({ server, namespace }) => {
  const access = await server.users.account(namespace, "reader");
  const rules = [
    { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["list"] },
    { apiGroups: ["admissionregistration.k8s.io"], resources: ["mutatingwebhookconfigurations"], verbs: ["list"] },
    { apiGroups: [""], resources: ["namespaces"], verbs: ["list"] },
  ];
  await server.users.grant({ kind: "ServiceAccount", name: "reader", namespace }, "precheck-reader", rules);
  await server.users.allowed(access, namespace, { verb: "list", group: "", resource: "namespaces" });
  const reader = await run({ access });
  assert.deepEqual([reader.code, reader.of("rights")[0]!.state], [1, "error"]);
  assert.match(reader.of("rights")[0]!.message, /^this user may not create customresourcedefinitions\.apiextensions/);
  assert.match(reader.of("proxy ports")[0]!.message, /^not checked: this user may not list pods/);
  assert.match(reader.of("service protocols")[0]!.message, /^not checked: this user may not list Services/);

  const nobody = await run({ access: await server.users.account(namespace, "nobody") });
  assert.match(`${nobody.code} ${nobody.err}`, /^2 .*: .*status 403: .*forbidden/s);
  const absent = await run({ access: { ...access, server: "https://127.0.0.1:1" } });
  assert.match(`${absent.code} ${absent.err}`, /^2 .*127\.0\.0\.1:1/s);
  const env = { HOME: "/nowhere", KUBECONFIG: "" };
  const none = await pilotDiscovery(["precheck"], { env });
  assert.match(`${none.code} ${none.err}`, /^2 Error: flag --orchconfig: got none, expected a file, or the variable/);
});

test("--context chooses a context of the file; a name that is not there and a place without contexts are refused", async ({ server }) => {
  const kubeconfig = JSON.parse(kubeconfigOf(server.access));
  kubeconfig["current-context"] = "away";
  kubeconfig.clusters.push({ name: "away", cluster: { server: "https://127.0.0.1:1" } });
  kubeconfig.contexts.push({ name: "away", context: { cluster: "away", user: "test" } });
  const files = { config: JSON.stringify(kubeconfig) };
  const of = (...args: string[]) => pilotDiscovery(["precheck", "--orchconfig=config", ...args], { files });
  assert.match((await of()).err, /127\.0\.0\.1:1/);
  const named = await of("--context=test");
  assert.equal(named.code, 0, named.err);
  assert.ok(named.out.startsWith(`cluster ${server.access.server}\n`), named.out);
  const unknown = await of("--context=nowhere");
  assert.match(`${unknown.code} ${unknown.err}`, /^2 [^]*config: context: got "nowhere", expected one of test, away/);
  const env = { HOME: "/nowhere", KUBECONFIG: "" };
  for (const command of ["precheck", "bug-report"]) {
    const none = await pilotDiscovery([command, "--context=test"], { env });
    assert.match(`${none.code} ${none.err}`, /^2 Error: flag --context: got "test", expected a file by --orchconfig/);
  }
});

test("ports of pods and Services in the cluster are checked: an error with field, value and expectation", async ({ server, namespace }) => {
  const selector = { app: "cart" };
  const apply = (kind: string, name: string, spec: object, metadata: object = {}) =>
    server.objects.apply({ apiVersion: "v1", kind, metadata: { name, namespace, ...metadata }, spec });
  const labels = { "istio-injection": "enabled" };
  await server.objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
  await server.objects.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } });
  const containers = [{ name: "app", image: "app", ports: [{ containerPort: 8080 }, { containerPort: 15006 }] }];
  await apply("Pod", "cart", { containers }, { labels: selector });
  await apply("Service", "web", { selector, ports: [{ port: 80, targetPort: 8080, name: "http" }] });
  await apply("Service", "raw", { selector, ports: [{ port: 8080 }] });
  const { code, of } = await run(server);
  assert.equal(code, 1);
  const messages = (check: string) => of(check).map(({ state, message }) => `${state} ${message}`);
  assert.deepEqual(messages("proxy ports"), [
    `error ${namespace}/cart: container app: containerPort: got 15006, expected another port: ` +
    "inbound traffic of the proxy is there",
  ]);
  assert.match(messages("service protocols")[0]!, new RegExp(`^warning .*${namespace}/raw 8080 \\(no name\\)`));
  const protocols = /port 8080: got \S+ by \S+\/(?:raw|web), \S+ by \S+\/(?:raw|web), expected one protocol$/;
  assert.match(messages("shared ports").find((one) => one.includes(`${namespace}/cart`))!, protocols);
});
