/** Manifests in a folder are facts; other texts are counted, and make no noise. */
import assert from "node:assert/strict";
import { formatFinding } from "../../lib/finding/finding.ts";
import { FolderIndex } from "../../lib/folder/index.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A folder in memory. */
class Folder {
  readonly index = new FolderIndex({ defaultNamespace: "default", source: "" });

  write(path: string, text: string | undefined) {
    const bytes = text === undefined ? undefined : new TextEncoder().encode(text);
    const { facts, upserted, removed } = this.index.apply([{ path, bytes }]);
    return {
      facts: facts.upserted.map(({ key }) => key),
      gone: facts.removed,
      objects: upserted.map(({ key }) => key),
      lost: removed,
    };
  }

  findings(): string[] {
    return this.index.findings().map(formatFinding);
  }

  passedOver(): Record<string, number> {
    return Object.fromEntries([...this.index.passedOver()].map(([what, { count }]) => [what, count]));
  }
}

const service = (name: string, port: number | string = 80) =>
  `apiVersion: v1\nkind: Service\nmetadata: { name: ${name}, namespace: shop }\nspec:\n  ports:\n  - port: ${port}\n`;
const entry =
  "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: { name: a }\nspec: { hosts: [a.com], ports: [{ number: 80, name: http, protocol: HTTP }] }\n";

test("manifests are facts beside configuration, in lists too, and only changed manifests are read again", () => {
  const folder = new Folder();
  const first = folder.write("a.yaml", `${service("a")}---\n${entry}---\n${service("b")}`);
  assert.deepEqual(first, {
    facts: ["Service/shop/a", "Service/shop/b"],
    gone: [],
    objects: ["ServiceEntry/default/a"],
    lost: [],
  });
  const b = folder.index.file("a.yaml")?.objects.get("Service/shop/b");
  assert.deepEqual(folder.write("a.yaml", `${service("a", 81)}---\n${entry}---\n${service("b")}`), {
    facts: ["Service/shop/a"],
    gone: [],
    objects: [],
    lost: [],
  });
  assert.equal(folder.index.file("a.yaml")?.objects.get("Service/shop/b"), b, "the same object");
  const account = { metadata: { name: "web", namespace: "shop" } };
  const list = { apiVersion: "v1", kind: "List", items: [{ apiVersion: "v1", kind: "ServiceAccount", ...account }] };
  assert.deepEqual(folder.write("b.json", JSON.stringify(list)).facts, ["ServiceAccount/shop/web"]);
  const plain = { apiVersion: "v1", kind: "NamespaceList", items: [{ metadata: { name: "shop" } }] };
  assert.deepEqual(folder.write("c.json", JSON.stringify(plain)).facts, ["Namespace//shop"], "items of an API's list");
  assert.deepEqual(folder.write("a.yaml", undefined).gone, ["Service/shop/a", "Service/shop/b"]);
  assert.deepEqual(folder.findings(), []);
});

test("a malformed manifest is named with its line, keeps its last good version, and harms nothing else", () => {
  const folder = new Folder();
  folder.write("a.yaml", `${entry}---\n${service("a")}`);
  const changes = folder.write("a.yaml", `${entry}---\n${service("a", "http")}---\n${service("b")}`);
  assert.deepEqual(changes, { facts: ["Service/shop/b"], gone: [], objects: [], lost: [] });
  assert.deepEqual(folder.findings(), [
    'a.yaml:11 Service shop/a: error: spec.ports[0].port: "http", expected an integer',
  ]);
  assert.ok(folder.index.file("a.yaml")?.stale.has("Service/shop/a"));
  folder.write("b.yaml", "apiVersion: v1\nkind: Service\nmetadata: {\n");
  assert.match(folder.findings().at(-1) ?? "", /^b\.yaml:\d+: error: does not parse/);
});

test("a manifest that takes the place of a broken one does not keep it, and variants of one are no finding", () => {
  const folder = new Folder();
  folder.write("base/a.yaml", service("a"));
  folder.write("overlay/a.yaml", service("a", 81));
  assert.deepEqual(folder.findings(), []);
  assert.deepEqual(folder.write("base/a.yaml", undefined), {
    facts: ["Service/shop/a"],
    gone: [],
    objects: [],
    lost: [],
  });
  folder.write("overlay/a.yaml", entry);
  assert.deepEqual(folder.write("overlay/a.yaml", "apiVersion: v1\nkind: Secret\n").lost, ["ServiceEntry/default/a"]);
});

test("a moved fact has its new line", () => {
  const folder = new Folder();
  folder.write("a.yaml", service("a"));
  folder.write("a.yaml", `# one\n# two\n${service("a")}`);
  const moved = folder.index.file("a.yaml")?.objects.get("Service/shop/a");
  assert.ok(moved?.origin.from === "file");
  assert.equal(moved.origin.line, 3);
});

/** Files of a repository beside configuration: name, text, counted as. */
const OTHERS: readonly (readonly [name: string, text: string, counted: Readonly<Record<string, number>>])[] = [
  ["package.json", '{ "name": "web", "version": "1.0.0", "dependencies": {} }', { "other text": 1 }],
  ["tsconfig.json", '{ // strict\n  "compilerOptions": { "strict": true, },\n}', { "other text": 1 }],
  ["values.yaml", "kind: DaemonSet\nreplicas: 2\nimage: { tag: latest }\n", { "other text": 1 }],
  ["Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n", { "other text": 1 }],
  [
    "kustomization.yaml",
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    { Kustomization: 1 },
  ],
  [
    ".github/workflows/ci.yaml",
    "name: ci\non: [push]\njobs:\n  test:\n    runs-on: ${{ matrix.os }}\n    steps:\n    - run: echo ${{ github.ref }}\n",
    { "other text": 1 },
  ],
  [
    "templates/service.yaml",
    'apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ include "web.fullname" . }}\n  labels:\n    {{- include "web.labels" . | nindent 4 }}\nspec:\n  ports: []\n',
    { template: 1 },
  ],
  [
    "templates/route.yaml",
    "{{- if .Values.route }}\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: web }\n{{- end }}\n",
    { template: 1 },
  ],
  [
    "templates/entry.yaml",
    'apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: { name: "{{ .Release.Name }}" }\nspec: {}\n',
    { template: 1 },
  ],
  ["policy.yaml", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {}\n", { NetworkPolicy: 1 }],
  [
    "gateway.yaml",
    "apiVersion: gateway.other.dev/v1\nkind: Gateway\nmetadata: { name: a }\nspec: {}\n",
    { "Gateway.gateway.other.dev": 1 },
  ],
  [
    "gloo.yaml",
    "apiVersion: gateway.solo.io/v1\nkind: VirtualService\nmetadata: { name: a }\nspec: {}\n",
    { "VirtualService.gateway.solo.io": 1 },
  ],
  [
    "appmesh.yaml",
    "apiVersion: appmesh.k8s.aws/v1beta2\nkind: VirtualService\nmetadata: { name: a }\nspec: {}\n",
    { "VirtualService.appmesh.k8s.aws": 1 },
  ],
  [
    "knative.yaml",
    "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: { name: a }\nspec: {}\n",
    { "Service.serving.knative.dev": 1 },
  ],
  ["operator.yaml", "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec: {}\n", { IstioOperator: 1 }],
  ["scc.yaml", "apiVersion: security.openshift.io/v1\nkind: SecurityContextConstraints\n", {
    SecurityContextConstraints: 1,
  }],
  ["openapi.yaml", "openapi: 3.0.0\ninfo: { title: a }\npaths: {}\n", { "other text": 1 }],
  ["words.yaml", "just words\n", { "other text": 1 }],
  ["broken.yaml", "a: [\n", { "other text": 1 }],
  ["empty.yaml", "# nothing\n", {}],
];

for (const [name, text, counted] of OTHERS) {
  test(`no noise: ${name}`, () => {
    const folder = new Folder();
    assert.deepEqual(folder.write(name, text), { facts: [], gone: [], objects: [], lost: [] });
    assert.deepEqual([folder.findings(), folder.passedOver()], [[], counted]);
    folder.write(name, undefined);
    assert.deepEqual(folder.passedOver(), {}, "the count follows the folder");
  });
}

test("what stood in force is not taken for something else: its last good version stays, with a finding", () => {
  for (const broken of ["a: [\n", "{{- if .Values.x }}\nkind: VirtualService\n", "]]\n"]) {
    const folder = new Folder();
    folder.write("a.yaml", entry);
    assert.deepEqual(folder.write("a.yaml", broken).lost, [], broken);
    assert.deepEqual([folder.findings().length, folder.passedOver()], [1, {}], broken);
    folder.write("a.yaml", entry);
    assert.deepEqual(folder.findings(), []);
  }
});

test("files are named where something is passed over, and not all of many", () => {
  const folder = new Folder();
  for (let i = 9; i >= 0; i--) folder.write(`${i}.yaml`, "apiVersion: x.io/v1\nkind: Other\n---\nkind: b\n");
  assert.deepEqual(folder.index.passedOver().get("Other"), {
    count: 10,
    files: ["0.yaml", "1.yaml", "2.yaml", "3.yaml", "4.yaml"],
  });
});

test("nothing of a secret gets into a finding, however its text is broken", () => {
  const password = "hunter2secret";
  const head = "apiVersion: v1\nkind: Secret\nmetadata: { name: a }\n";
  const texts: Record<string, string> = {
    "alias.yaml": `${head}stringData: { a: *${password} }\n`,
    "indent.yaml": `${head}data:\n  password: ${password}: x\n   b: "\n`,
    "no-map.yaml": `${head}data: ${password}\n`,
    "list.yaml": `${head}stringData: [${password}]\n`,
    "not-base64.yaml": `${head}data: { a: ${password}! }\n`,
    "version.yaml": `${head.replace("v1", "v2")}stringData: { a: ${password} }\n`,
    "token.json": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"a":${password}}}`,
    "end.json": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"a":"${password}}}`,
    "annotation.yaml": `${head.replace("name: a", `name: a, annotations: { x: [${password}] }`)}data: 5\n`,
  };
  for (const [name, text] of Object.entries(texts)) {
    const folder = new Folder();
    folder.write(name, text);
    assert.equal(folder.findings().length, 1, name);
    assert.ok(!JSON.stringify(folder.index.findings()).includes(password.slice(0, 6)), folder.findings().join());
  }
});
