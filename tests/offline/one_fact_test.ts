/**
 * The words of findings, over the corpus and all examples of the reference: each fact is one finding, an advice calls
 * nothing wrong, and names of the program stand in no text.
 */
import assert from "node:assert/strict";
import { FINDING_NAMES, FINDING_ROWS, titleOf } from "../../lib/finding/codes.ts";
import { type Finding, findingKeys, findingObject, formatFinding } from "../../lib/finding/finding.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { resourcesJson } from "../../lib/offline/proxy_resources.ts";
import { meshOf } from "./mesh_of.ts";

const testdata = new URL("../testdata/", import.meta.url);

function checked(files: Readonly<Record<string, string>>): readonly Finding[] {
  const mesh = meshOf(files, { manifestServices: true });
  const textOf = (file: string) => files[file];
  return unpaced(checkMesh(mesh, { assumeServices: false, textOf, now: () => Date.UTC(2026, 10, 30) })).findings;
}

function* worlds(): Iterable<readonly [name: string, files: Readonly<Record<string, string>>]> {
  for (const place of ["findings/", "corpus/input/"]) {
    const root = new URL(place, testdata);
    for (const { name } of Deno.readDirSync(root)) {
      const folder = new URL(`${name}/`, root);
      const files = [...Deno.readDirSync(folder)].map((one) => one.name).sort();
      const texts = files.map((file): [string, string] => [file, Deno.readTextFileSync(new URL(file, folder))]);
      // Of an example the two files are two worlds.
      if (place === "findings/") { for (const [file, text] of texts) yield [`${name}/${file}`, { [file]: text }]; }
      else yield [name, Object.fromEntries(texts)];
    }
  }
}

const FOUND = [...worlds()].map(([name, files]) => ({ name, findings: checked(files) }));

Deno.test("two objects that exclude each other give one finding: no second one has the same objects the other way round", () => {
  for (const { name, findings } of FOUND) {
    const seen = new Map<string, string>();
    for (const one of findings) {
      const keys = findingKeys(one);
      if (keys.length < 2) continue;
      const [first = ""] = keys;
      const id = `${one.name} ${[...keys].sort().join()}`;
      assert.equal(seen.get(id) ?? first, first, `${name}: ${formatFinding(one)}`);
      seen.set(id, first);
    }
  }
});

/** Sorts about the same field with different statements. */
const TWO_FACTS: ReadonlySet<string> = new Set([
  // The name of a certificate: others have the certificate too; no Secret has the name.
  "certificate-of-several-gateways missing-credential",
  // The name of a certificate: others have the certificate too; Envoy would reject the Secret.
  "certificate-of-several-gateways refused-credential",
  // A rule as a whole has no port; a value in the rule matches no request.
  "matches-no-request wrong-value",
]);

Deno.test("one field of an object has one finding, or findings of sorts that say different things", () => {
  const isWithin = (inner: string, outer: string) =>
    inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  for (const { name, findings } of FOUND) {
    const byObject = Map.groupBy(findings, (one) => findingKeys(one)[0] ?? "");
    for (const [key, list] of byObject) {
      if (key === "") continue;
      for (const [at, one] of list.entries()) {
        for (const other of list.slice(at + 1)) {
          const [a, b] = [one.place.field, other.place.field];
          if (one.name === other.name || a === "" || b === "" || !(isWithin(a, b) || isWithin(b, a))) continue;
          const pair = [one.name, other.name].sort().join(" ");
          assert.ok(TWO_FACTS.has(pair), `${name}: ${formatFinding(one)}\n${formatFinding(other)}`);
        }
      }
    }
  }
});

Deno.test("what is no error is not called wrong or missing: it may be meant so, or be elsewhere", () => {
  const claims = /wrong|does not exist|is not there|missing|matches no workload/;
  const excused: Readonly<Record<string, string>> = {
    "wrong-annotation": "the injector does refuse the pod; the files do not tell whether it is injected",
  };
  let advices = 0;
  for (const { name, findings } of FOUND) {
    for (const one of findings.filter(({ severity }) => severity !== "error")) {
      advices++;
      if (excused[one.name] !== undefined) continue;
      assert.doesNotMatch(titleOf(one.name, false), claims, `${name}: ${formatFinding(one)}`);
      const [said] = one.message.split(": ");
      assert.doesNotMatch(said!, claims, `${name}: ${formatFinding(one)}`);
    }
  }
  assert.ok(advices > 20);
  // Sorts without an example as an advice.
  for (const name of FINDING_NAMES.filter((one) => FINDING_ROWS[one].warningCode !== undefined)) {
    assert.doesNotMatch(titleOf(name, false), claims);
  }
});

const POD = `apiVersion: v1
kind: Pod
metadata: { name: app-1, namespace: shop, labels: { app: app } }
spec: { containers: [{ name: app, image: x }] }
status: { phase: Running, podIP: 10.9.0.1 }
`;

const entry = (name: string, ...ports: readonly string[]) =>
  `---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: shop }
spec:
  hosts: [${name}.test]
  addresses: [10.8.0.1]
  resolution: STATIC
  location: MESH_INTERNAL
  ports: [${ports.join(", ")}]
  endpoints: [{ address: 10.9.0.9 }]
`;

Deno.test("a port whose protocol nothing declares is called undeclared in findings, never by a name of the program", () => {
  const route = `---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: r, namespace: shop }
spec:
  hosts: [b.test]
  tls: [{ match: [{ port: 9000, sniHosts: [b.test] }], route: [{ destination: { host: b.test } }] }]
`;
  const files = {
    "mesh.yaml": POD + entry("a", "{ number: 9000, name: a, protocol: MYSQL }") +
      entry("b", "{ number: 9000, name: b }") + route,
  };
  const mesh = meshOf(files, { manifestServices: true });
  const { findings } = unpaced(checkMesh(mesh, { assumeServices: false, textOf: () => files["mesh.yaml"] }));
  const messages = findings.map((one) => `${findingObject(one).name}: ${one.message}`);
  assert.ok(messages.some((one) => one.includes("undeclared")), messages.join("\n"));
  assert.deepEqual(messages.filter((one) => one.includes("Unsupported")), []);
});

const external = (port: string) =>
  `${POD}---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { selector: { app: app }, ports: [{ name: http-web, port: 80 }, { name: tcp-raw, port: 9999 }] }
---
apiVersion: v1
kind: Service
metadata: { name: alias, namespace: shop }
spec: { type: ExternalName, externalName: web.shop.svc.cluster.local, ports: [${port}] }
`;

Deno.test("the ports of an external name change no resource, so their names are no finding", () => {
  const resources = (port: string) => {
    const mesh = meshOf({ "mesh.yaml": external(port) }, { manifestServices: true });
    const node = { id: "sidecar~10.9.0.1~app-1.shop~shop.svc.cluster.local", metadata: { NAMESPACE: "shop" } };
    return resourcesJson(mesh.join(node), ["lds", "rds", "cds"]);
  };
  const ports = ["", "{ port: 80 }", "{ name: tcp, port: 80 }", "{ name: http-web, port: 80 }", "{ port: 9999 }"];
  const [first, ...others] = ports.map(resources);
  assert.ok(JSON.stringify(first).includes("alias.shop.svc.cluster.local"));
  for (const other of others) assert.deepEqual(other, first);
  for (const port of ports.slice(1)) {
    const names = checked({ "mesh.yaml": external(port) }).filter((one) => findingObject(one).name === "alias");
    assert.deepEqual(names, []);
  }
});
