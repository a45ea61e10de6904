import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import { inFile } from "./origins.ts";

const ORIGIN = inFile("a.yaml");

function parse(tree: Record<string, unknown>) {
  return parseObject({ apiVersion: "networking.mesh.io/v1", kind: "DestinationRule", ...tree }, ORIGIN, {
    defaultNamespace: "home",
  });
}

function hashOf(metadata: Record<string, unknown>, spec: unknown = { host: "a" }): string {
  const { object, findings } = parse({ metadata: { name: "a", ...metadata }, spec });
  assert.ok(object !== undefined, JSON.stringify(findings));
  return object.hash;
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("metadata: namespace by default, time in ms, spelling ours, other people's fields ignored", () => {
  const { object } = parse({
    metadata: {
      name: "a",
      uid: "x",
      managedFields: [{}],
      generation: 3,
      creationTimestamp: "2024-01-31T12:00:00Z",
      labels: { "istio.io/rev": "x" },
      annotations: { "sidecar.istio.io/inject": "false" },
    },
    spec: { host: "a" },
    status: { conditions: [] },
  });
  assert.deepEqual(object?.meta, {
    name: "a",
    namespace: "home",
    labels: { "mesh.io/rev": "x" },
    annotations: { "sidecar.mesh.io/inject": "false" },
    creationTimestamp: Date.parse("2024-01-31T12:00:00Z"),
    generation: 3,
  });
  assert.equal(object?.key, "DestinationRule/home/a");
});

const WRONG: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
  ["no name", { metadata: {}, spec: { host: "a" } }, ["metadata.name"]],
  ["no metadata", { spec: { host: "a" } }, ["metadata.name"]],
  ["a name that is none", { metadata: { name: "A_b" }, spec: { host: "a" } }, ["metadata.name"]],
  ["a namespace that is none", { metadata: { name: "a", namespace: "a.b" }, spec: { host: "a" } }, [
    "metadata.namespace",
  ]],
  ["a namespace that is no text", { metadata: { name: "a", namespace: { a: 1 } }, spec: { host: "a" } }, [
    "metadata.namespace",
  ]],
  ["labels that are no text", { metadata: { name: "a", labels: { a: 1 } }, spec: { host: "a" } }, [
    "metadata.labels.a",
  ]],
  ["a time that is none", { metadata: { name: "a", creationTimestamp: "now" }, spec: { host: "a" } }, [
    "metadata.creationTimestamp",
  ]],
  ["a field beside spec", { metadata: { name: "a" }, spec: { host: "a" }, subsets: [] }, ["subsets"]],
  ["an object made to be refused", {
    metadata: { name: "a", annotations: { "internal.istio.io/webhook-always-reject": "" } },
    spec: { host: "a" },
  }, ["metadata.annotations"]],
  ["a dry run of what has none", {
    metadata: { name: "a", annotations: { "istio.io/dry-run": "true" } },
    spec: { host: "a" },
  }, ['metadata.annotations["mesh.io/dry-run"]']],
  ["no spec", { metadata: { name: "a" } }, ["spec.host"]],
  ["a spec that is a list", { metadata: { name: "a" }, spec: [] }, ["spec"]],
  ["a version that is none", { apiVersion: "networking.mesh.io/v9", metadata: { name: "a" } }, ["apiVersion"]],
  ["a kind of another group", { apiVersion: "security.mesh.io/v1", metadata: { name: "a" } }, ["apiVersion"]],
  ["a kind that is no text", { kind: 5, metadata: { name: "a" } }, ["kind"]],
];

for (const [name, tree, fields] of WRONG) {
  test(`refused: ${name}`, () => {
    const { object, findings } = parse(tree);
    assert.equal(object, undefined);
    assert.deepEqual(findings.map((found) => found.place.field), fields);
  });
}

test("a name with capitals is accepted, as in Istio's files, with a warning", () => {
  const { object, findings } = parse({ metadata: { name: "Reviews.V1" }, spec: { host: "a" } });
  assert.equal(object?.key, "DestinationRule/home/Reviews.V1");
  assert.deepEqual(findings.map(({ severity, place: { field } }) => [severity, field]), [["warning", "metadata.name"]]);
});

test("objects of other groups are left alone without a word", () => {
  const { object, findings, foreign } = parse({ apiVersion: "v1", kind: "Service" });
  assert.deepEqual([object, findings, foreign], [undefined, [], true]);
});

test("the hash changes with the parts that translation reads, and with nothing else", () => {
  const base = hashOf({});
  assert.equal(hashOf({}, { host: "a", exportTo: [] }), base, "an empty list is not written");
  assert.equal(
    hashOf({
      uid: "x",
      resourceVersion: "5",
      labels: { owner: "me" },
      annotations: { "kubectl.kubernetes.io/x": "y" },
    }),
    base,
  );
  assert.notEqual(hashOf({}, { host: "b" }), base);
  assert.notEqual(hashOf({ namespace: "other" }), base);
  assert.notEqual(hashOf({ creationTimestamp: "2024-01-31T12:00:00Z" }), base);
  assert.notEqual(hashOf({ labels: { "istio.io/rev": "canary" } }), base);
  assert.notEqual(hashOf({ annotations: { "networking.istio.io/x": "y" } }), base);
});

test("labels of workloads are data, so they are in the hash", () => {
  const hash = (label: string) =>
    parse({ kind: "WorkloadEntry", metadata: { name: "a", labels: { app: label } }, spec: { address: "10.0.0.1" } })
      .object?.hash;
  assert.notEqual(hash("a"), hash("b"));
});

test("the order of keys makes no difference to the hash", () => {
  const one = hashOf({}, { host: "a", subsets: [{ name: "v", labels: { a: "1", b: "2" } }] });
  const two = hashOf({}, { subsets: [{ labels: { b: "2", a: "1" }, name: "v" }], host: "a" });
  assert.equal(one, two);
});

test("an object without a creation time is newer than any that has one", () => {
  const dated = (time?: string) =>
    parseObject(
      {
        apiVersion: "networking.mesh.io/v1",
        kind: "DestinationRule",
        metadata: { name: "a", ...(time ? { creationTimestamp: time } : {}) },
        spec: { host: "a" },
      },
      inFile("a.yaml"),
      { defaultNamespace: "x" },
    ).object!.meta.creationTimestamp;
  assert.ok(dated() > dated("9999-12-31T23:59:59Z"));
  assert.equal(dated(), dated());
});

const entryWith = (status: unknown) =>
  parseObject(
    {
      apiVersion: "networking.istio.io/v1",
      kind: "ServiceEntry",
      metadata: { name: "a" },
      spec: { hosts: ["a.example.com"], ports: [{ number: 80, name: "http" }], resolution: "DNS" },
      ...(status === undefined ? {} : { status }),
    },
    ORIGIN,
    { defaultNamespace: "home" },
  ).object!;

test("the addresses in the status of a service entry are read and count as a change; the rest of the status does not", () => {
  const rows = [{ host: "a.example.com", value: "240.240.0.1" }, { host: "a.example.com", value: "2001:2::f0f0:1" }];
  const object = entryWith({ addresses: rows, conditions: [{ type: "Reconciled", status: "True" }] });
  assert.deepEqual(object.assigned, rows);
  assert.notEqual(object.hash, entryWith(undefined).hash);
  assert.equal(entryWith({ conditions: [{ type: "Reconciled" }] }).hash, entryWith(undefined).hash);
});

test("malformed rows of a status are left out, and do not refuse the object", () => {
  const good = { host: "a.example.com", value: "240.240.0.1" };
  assert.deepEqual(entryWith({ addresses: [null, 7, { host: "a" }, { value: "b" }, good] }).assigned, [good]);
  for (const status of [null, 7, { addresses: {} }, { addresses: [] }]) {
    assert.equal(entryWith(status).assigned, undefined);
  }
});
