/** A repository with its manifests has no findings. Without the manifests, unknown hosts may be assumed to exist. */
import assert from "node:assert/strict";
import { FINDING_NAMES, FINDING_ROWS, type FindingCode } from "../../lib/finding/codes.ts";
import { NOT_REPORTED } from "../../lib/finding/codes/not_reported.ts";
import { AnalyzedFolder } from "./support/analyzed.ts";

const repository = Deno.readTextFileSync(
  new URL("../testdata/analyze/manifests/input/repository.yaml", import.meta.url),
);
const documents = repository.split("---\n");

function messages(text: string, assumeServices = false): string[] {
  const folder = new AnalyzedFolder({}, assumeServices);
  folder.write({ "a.yaml": text });
  return folder.findings().map(({ message }) => message);
}

Deno.test("services, workloads and traffic of one repository: no host is unknown, nothing else is wrong", () => {
  assert.deepEqual(messages(repository), []);
});

Deno.test("where services live elsewhere, hosts under the mesh's domain are assumed, others are not", () => {
  const traffic = documents.filter((text) => !/^kind: (?:Service|Deployment)$/m.test(text));
  const unknown = messages(traffic.join("---\n"));
  assert.ok(
    unknown.length >= 4 && unknown.every((text) => /host .*is not known: |host does not exist: /.test(text)),
    unknown.join("\n"),
  );
  assert.deepEqual(messages(traffic.join("---\n"), true), []);
  const external = traffic.join("---\n").replace("host: shelf,", "host: shelf.example.com,");
  assert.deepEqual(messages(external, true).map((text) => text.split(", ")[0]), [
    'host does not exist: spec.http[0].route[0].destination.host: "shelf.example.com"',
  ]);
});

Deno.test("a host is unknown as soon as its manifest goes, and known again when it is back", () => {
  const folder = new AnalyzedFolder();
  folder.write({ "a.yaml": repository });
  const count = () => folder.analysis.looks;
  const before = count();
  const without = documents.filter((text) => !/^kind: Service$/m.test(text) || !text.includes("name: scores,"));
  folder.write({ "a.yaml": without.join("---\n") });
  assert.deepEqual(folder.findings().map(({ name, place }) => [name, place.objects[0]?.name]), [[
    "unknown-host",
    "scores",
  ]]);
  // The manifest's routes, and the deployments of its namespace, which look for selecting services.
  assert.ok(
    count() - before <= 10,
    `${count() - before} of ${documents.length} objects were looked at for one manifest`,
  );
  folder.write({ "a.yaml": repository });
  assert.deepEqual(folder.findings(), []);
});

Deno.test("a code is reported, or there is a reason why not, and not both", () => {
  const codes = new Set(
    FINDING_NAMES.flatMap((name) => [FINDING_ROWS[name].code, FINDING_ROWS[name].warningCode ?? []].flat()),
  );
  assert.deepEqual(Object.keys(NOT_REPORTED).filter((code) => codes.has(code as FindingCode)), []);
});
