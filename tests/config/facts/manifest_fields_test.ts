/**
 * The table of fields tells for each read field who sets the field, and the meaning of its absence; no more and no
 * less.
 */
import assert from "node:assert/strict";
import { MANIFEST_FIELDS, METADATA_FIELDS } from "../../../lib/config/facts/manifest_fields.ts";
import { FACT_SCHEMAS, readFact } from "../../../lib/config/facts/read.ts";
import { FACT_KINDS, type FactKind } from "../../../lib/config/facts/types.ts";
import { usualSlice } from "../../../lib/config/facts/usual_endpoints.ts";
import { usualService } from "../../../lib/config/facts/usual_services.ts";
import { NOWHERE } from "../../../lib/finding/finding.ts";
import { Findings } from "../../../lib/finding/findings.ts";
import { parseMeta } from "../../../lib/config/metadata.ts";
import { traced } from "./traced.ts";

const metadata = { name: "a", namespace: "b", labels: {}, annotations: {}, ownerReferences: [{}] };
const containers = [{ name: "a", ports: [{ containerPort: 1 }], securityContext: {} }];
const spec = { containers, securityContext: {} };
const template = { metadata: { labels: {}, annotations: {} }, spec };
const backend = { service: { name: "a", port: {} } };
const status = { loadBalancer: { ingress: [{}] } };

/** An object of each kind, with all nested parts: a read of a part is seen, whether the part is present or absent. */
const OBJECTS: Readonly<Record<FactKind, object>> = {
  Service: { spec: { ports: [{ port: 1 }], selector: {} }, status },
  Endpoints: { subsets: [{ addresses: [{ ip: "10.0.0.1", targetRef: {} }], notReadyAddresses: [], ports: [{}] }] },
  EndpointSlice: { endpoints: [{ addresses: ["10.0.0.1"], conditions: {}, targetRef: {} }], ports: [{}] },
  Node: { status: { addresses: [{}] } },
  ServiceImport: { spec: {} },
  ServiceExport: {},
  Namespace: {},
  ServiceAccount: {},
  Secret: {},
  ConfigMap: {},
  Ingress: { spec: { defaultBackend: backend, rules: [{ http: { paths: [{ backend }] } }], tls: [{}] }, status },
  IngressClass: { spec: {} },
  Pod: { spec, status: { podIPs: [{ ip: "10.0.0.1" }], conditions: [{}] } },
  Deployment: { spec: { template } },
  StatefulSet: { spec: { template } },
  DaemonSet: { spec: { template } },
  ReplicaSet: { spec: { template } },
  Job: { spec: { template } },
  CronJob: { spec: { jobTemplate: { spec: { template } } } },
};

for (const kind of FACT_KINDS) {
  Deno.test(`the fields read of a ${kind} equal the table`, () => {
    const { tree, paths } = traced({ metadata, ...OBJECTS[kind] });
    assert.equal(FACT_SCHEMAS[kind].safeParse(tree).error, undefined);
    // The readers without a schema read the same fields.
    if (kind === "Service") assert.notEqual(usualService(tree), undefined);
    if (kind === "EndpointSlice") assert.notEqual(usualSlice(tree), undefined);
    // A check of maps reads the constructor.
    const read = [...paths].filter((path) => !path.endsWith(".constructor"));
    assert.deepEqual(read.sort(), Object.keys(MANIFEST_FIELDS[kind]).sort());
  });
}

Deno.test("the table lists exactly the fields that are read of the metadata of any kind", () => {
  const { tree, paths } = traced(metadata);
  parseMeta(tree, "default", new Findings(NOWHERE));
  assert.deepEqual([...paths].sort(), Object.keys(METADATA_FIELDS).sort());
});

Deno.test("each field that a platform sets has the meaning of its absence in a folder", () => {
  for (const [kind, rows] of Object.entries(MANIFEST_FIELDS)) {
    for (const [path, { by, folder }] of Object.entries(rows)) {
      assert.ok(folder !== "", `${kind} ${path}`);
      if (by !== "author") assert.notEqual(folder, "nothing is written of it, and nothing follows", `${kind} ${path}`);
    }
  }
});

const origin = { from: "file", source: "", file: "a.yaml", line: 1, within: "" } as const;
const OPTIONS = { digestKey: new Uint8Array(32) };

/** A manifest by a person, and the same manifest in an API server. */
const STORED: readonly { readonly kind: FactKind; readonly written: object; readonly stored: object }[] = [
  {
    kind: "Service",
    written: { spec: { selector: { app: "a" }, ports: [{ port: 80 }] } },
    stored: {
      spec: {
        type: "ClusterIP",
        selector: { app: "a" },
        sessionAffinity: "None",
        ipFamilyPolicy: "SingleStack",
        ports: [{ port: 80, protocol: "TCP" }],
      },
      status: { loadBalancer: {} },
    },
  },
  {
    kind: "Deployment",
    written: { spec: { template } },
    stored: {
      spec: {
        replicas: 1,
        template: {
          metadata: { creationTimestamp: null, labels: {} },
          spec: {
            containers: [{ name: "a", ports: [{ containerPort: 1, protocol: "TCP" }], imagePullPolicy: "Always" }],
            restartPolicy: "Always",
            serviceAccount: "default",
            serviceAccountName: "default",
            securityContext: {},
          },
        },
      },
    },
  },
  { kind: "Secret", written: { stringData: { a: "b" } }, stored: { type: "Opaque", data: { a: "Yg==" } } },
];

for (const { kind, written, stored } of STORED) {
  Deno.test(`a ${kind} of a folder means what it means when an API server has filled its defaults in`, () => {
    const of = (tree: object) => {
      const { fact, findings } = readFact(kind, { metadata: { name: "a", namespace: "b" }, ...tree }, origin, OPTIONS);
      assert.deepEqual(findings, []);
      return fact?.hash;
    };
    assert.equal(of(written), of(stored));
  });
}

/** Each path of the table, with null in its place. */
for (const kind of FACT_KINDS) {
  Deno.test(`null in any field of a ${kind} that may be left out is as if nothing was written`, () => {
    const whole = { metadata: { name: "a", namespace: "b" }, ...OBJECTS[kind] };
    const hashOf = (tree: object) => readFact(kind, tree, origin, OPTIONS).fact?.hash;
    for (const path of Object.keys(MANIFEST_FIELDS[kind])) {
      const [without, withNull] = [put(whole, path, undefined), put(whole, path, null)];
      assert.equal(hashOf(withNull), hashOf(without), `${kind} ${path}`);
    }
  });
}

/** The same tree with another value at a path; undefined: without the field. */
function put(tree: unknown, path: string, value: unknown): object {
  const copy = structuredClone(tree) as Record<string, unknown>;
  const keys = path.split(/\.(?![^.]*\/)|(?=\[\])/);
  let at: Record<string, unknown> | undefined = copy;
  for (const [index, key] of keys.entries()) {
    if (at === undefined) return copy;
    const name = key === "[]" ? "0" : key;
    if (index === keys.length - 1) {
      if (value === undefined) delete at[name];
      else at[name] = value;
    } else at = at[name] as Record<string, unknown> | undefined;
  }
  return copy;
}
