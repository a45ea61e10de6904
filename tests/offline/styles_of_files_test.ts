/** One mesh in the styles in which tools and people write files: the same resources, and findings at the written value. */
import assert from "node:assert/strict";
import { stringify } from "yaml";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { resourcesJson } from "../../lib/offline/proxy_resources.ts";
import { meshOf } from "./mesh_of.ts";

const at = (name: string) => ({ name, namespace: "shop" });
const NETWORKING = "networking.istio.io/v1";
const pods = { metadata: { labels: { app: "web", version: "v1" } }, spec: { containers: [{ name: "a", image: "a" }] } };

/** The objects of a mesh, with a subset named by its rule. */
const objects = (subset: string) => [
  {
    ...{ apiVersion: "v1", kind: "Service", metadata: at("web") },
    spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80 }] },
  },
  {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: at("web-v1") },
    spec: { selector: { matchLabels: { app: "web" } }, template: pods },
  },
  {
    ...{ apiVersion: NETWORKING, kind: "VirtualService", metadata: at("web") },
    spec: { hosts: ["web"], http: [{ route: [{ destination: { host: "web", subset } }] }] },
  },
  {
    ...{ apiVersion: NETWORKING, kind: "DestinationRule", metadata: at("web") },
    spec: { host: "web", subsets: [{ name: "v1", labels: { version: "v1" } }] },
  },
];
type Objects = ReturnType<typeof objects>;

const documents = (all: Objects) => all.map((one) => stringify(one, { aliasDuplicateObjects: false }));
const plain = (all: Objects) => documents(all).join("---\n");
const list = (items: readonly unknown[]) => ({ apiVersion: "v1", kind: "List", metadata: {}, items });

/** Lists of a single kind, in the form of an API's answer: the items have neither version nor kind. */
const typedLists = (all: Objects) =>
  all.map(({ apiVersion, kind, ...item }) => stringify({ apiVersion, kind: `${kind}List`, items: [item] })).join(
    "---\n",
  );

const STYLES: Readonly<Record<string, (all: Objects) => string | Readonly<Record<string, string>>>> = {
  "lines that end as on Windows": (all) => plain(all).replaceAll("\n", "\r\n"),
  "a byte order mark": (all) => `\ufeff${plain(all)}`,
  "a byte order mark before each document, as glued files have it": (all) =>
    `\ufeff${documents(all).join("---\n\ufeff")}`,
  "empty documents": (all) =>
    `---\n---\n# nothing\n---\n${documents(all).join("---\n\n---\n")}---\nnull\n---\n~\n---\n`,
  "a list": (all) => stringify(list(all), { aliasDuplicateObjects: false }),
  "a list in a list, with nothing beside": (all) =>
    stringify(list([null, list(all)]), { aliasDuplicateObjects: false }),
  "lists of one kind": typedLists,
  "anchors": (all) => stringify(list(all)),
  "comments behind separators": (all) => `%YAML 1.2\n--- # first\n${documents(all).join("---   # next\n")}...\n# end\n`,
  "sources named as a chart's renderer does": (all) =>
    documents(all).map((one) => `---\n# Source: a/b.yaml\n${one}`).join(""),
  "values in flow style": (all) => all.map((one) => stringify(one, { collectionStyle: "flow" })).join("---\n"),
  "JSON in one line": (all) => JSON.stringify(list(all)),
  "JSON in many lines": (all) => JSON.stringify(list(all), undefined, 2),
  "JSON with tabs": (all) => JSON.stringify(list(all), undefined, "\t"),
  "a document of JSON for each object": (all) => all.map((one) => JSON.stringify(one)).join("\n---\n"),
  "a file for each object, beside files of tools": (all) => ({
    ...Object.fromEntries(documents(all).map((one, i) => [`base/${i}.yaml`, one])),
    "base/kustomization.yaml":
      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [0.yaml]\n",
    "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 0.1.0\n",
    "chart/values.yaml": "hosts: [web]\n",
    "chart/templates/a.yaml": "{{- if .Values.on }}\nkind: VirtualService\nspec: {{ .Values.spec }}\n{{- end }}\n",
  }),
};

const filesOf = (written: string | Readonly<Record<string, string>>) =>
  typeof written === "string" ? { "a.yaml": written } : written;

const TYPES = ["cds", "lds", "rds", "eds"] as const;

function resources(files: Readonly<Record<string, string>>) {
  const mesh = meshOf(files, { manifestServices: true });
  return resourcesJson(mesh.join({ id: "sidecar~10.0.0.1~client.shop~shop.svc.cluster.local" }), TYPES);
}

function findings(files: Readonly<Record<string, string>>) {
  const options = { assumeServices: false, textOf: (file: string) => files[file] };
  return unpaced(checkMesh(meshOf(files, { manifestServices: true }), options)).findings;
}

const wanted = resources({ "a.yaml": plain(objects("v1")) });

Deno.test("the mesh that styles are held against has the rule and its subset", () => {
  const text = JSON.stringify(wanted);
  assert.ok(text.includes("outbound|80|v1|web.shop.svc.cluster.local"), text.slice(0, 400));
  assert.ok(text.includes("/virtual-service/web"), "a route says which rule it comes from");
});

for (const [style, write] of Object.entries(STYLES)) {
  Deno.test(`${style}: the mesh is the same, nothing is found in it, and a mistake is found where it is written`, () => {
    const good = filesOf(write(objects("v1")));
    // The origins of rules are a part of the proxies' resources.
    assert.deepEqual(resources(good), wanted);
    assert.deepEqual(findings(good).map(({ message }) => message), []);
    const bad = filesOf(write(objects("v9")));
    const [found, ...others] = findings(bad);
    assert.deepEqual(others.map(({ message }) => message), []);
    assert.equal(found?.code, "MSH0101");
    const { origin, line, column } = found.place;
    assert.ok(origin?.from === "file" && line !== undefined && column !== undefined);
    const text = bad[origin.file]!.split("\n")[line - 1]!;
    // A byte order mark is not a character of its line.
    assert.match(text.replace("\ufeff", "").slice(column - 1), /^"?v9/);
  });
}
