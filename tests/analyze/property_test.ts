import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import { inFile } from "../config/origins.ts";
import { name, namespace, type Tree, tree } from "../discovery/random_trees.ts";
import { AnalyzedFolder } from "./support/analyzed.ts";
import { runs } from "../properties.ts";

/** Runs of each property. */
const RUNS = runs(100);

const kinds = ["ServiceEntry", "WorkloadEntry", "VirtualService", "DestinationRule", "Sidecar", "Gateway"] as const;

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: tree.filter(isValid).map((written) => ({ file: fileOf(written), text: JSON.stringify(written) })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom(...kinds), namespace, name }).map((key) => ({
      file: `${key.kind}.${key.namespace}.${key.name}.json`,
      text: undefined,
    })),
  },
);

/** The last good version of a refused object stays in force, and a fresh start lacks that version. */
function isValid(written: Tree): boolean {
  return parseObject(written, inFile("x"), { defaultNamespace: "default" }).object !== undefined;
}

function fileOf({ kind, metadata }: Tree): string {
  return `${kind}.${metadata.namespace}.${metadata.name}.json`;
}

Deno.test("changes one by one leave the findings that a fresh analysis has", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40, size: "max" }), (steps) => {
      const folder = new AnalyzedFolder();
      const files: Record<string, string | undefined> = {};
      for (const { file, text } of steps) {
        folder.write({ [file]: text });
        files[file] = text;
      }
      const fresh = new AnalyzedFolder();
      fresh.write(files);
      assert.deepEqual([...folder.analysis.findings()], [...fresh.analysis.findings()]);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("changes during an analysis leave the findings that a fresh analysis has", () => {
  const steps = fc.array(fc.record({ written: step, steps: fc.nat({ max: 4 }), reset: fc.nat({ max: 19 }) }), {
    ...{ minLength: 5, maxLength: 30, size: "max" },
  });
  fc.assert(
    fc.property(steps, (changes) => {
      const folder = new AnalyzedFolder();
      const files: Record<string, string | undefined> = {};
      for (const { written: { file, text }, steps, reset } of changes) {
        folder.write({ [file]: text }, steps);
        files[file] = text;
        const { pipeline } = folder.fixture;
        if (reset === 0) folder.analysis.reset(pipeline.translator.mesh, pipeline.objects());
      }
      folder.write({});
      assert.equal(folder.analysis.isBehind, false);
      const fresh = new AnalyzedFolder();
      fresh.write(files);
      assert.deepEqual([...folder.analysis.findings()], [...fresh.analysis.findings()]);
    }),
    { numRuns: RUNS },
  );
});

const entry = (at: number) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: s${at}, namespace: n${at % 10} }
spec: { hosts: [s${at}.example.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: STATIC }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: s${at}, namespace: n${at % 10} }
spec: { hosts: [s${at}.example.com], http: [{ route: [{ destination: { host: s${at}.example.com } }] }] }
`;

Deno.test("an edit analyzes only affected objects: as many in a mesh of 50 services as in a mesh of 400", () => {
  const built = (size: number) => {
    const folder = new AnalyzedFolder();
    folder.write(Object.fromEntries(Array.from({ length: size }, (_, at) => [`${at}.yaml`, entry(at)])));
    const before = folder.analysis.looks;
    folder.write({ "7.yaml": entry(7).replaceAll("number: 80", "number: 81") });
    const service = folder.analysis.looks - before;
    folder.write({
      "8.yaml": entry(8).replace("http: [", "http: [{ match: [{ uri: { prefix: /x } }], redirect: { uri: / } }, "),
    });
    return { service, route: folder.analysis.looks - before - service };
  };
  const small = built(50);
  assert.deepEqual(built(400), small);
  assert.ok(small.service <= 3 && small.route <= 2, JSON.stringify(small));
});

const gateway = (at: number, host: string) =>
  `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: g${at}, namespace: n${at % 10} }
spec:
  selector: { app: door, of: t${at} }
  servers:
    - port: { number: 443, name: https, protocol: HTTPS }
      hosts: [${host}]
      tls: { mode: SIMPLE, credentialName: c${at} }
`;

Deno.test("an edit of a Gateway analyzes only Gateways of its host, and finds a Gateway with the same host", () => {
  const built = (size: number) => {
    const folder = new AnalyzedFolder();
    folder.write(
      Object.fromEntries(Array.from({ length: size }, (_, at) => [`${at}.yaml`, gateway(at, `h${at}.example.com`)])),
    );
    const before = folder.analysis.looks;
    folder.write({ "7.yaml": gateway(8, "h8.example.com").replace("g8", "g7") });
    assert.deepEqual(
      [...folder.analysis.findings()].map(({ name, place }) => `${name} ${place.objects[0]?.name}`),
      ["gateways-of-one-host g8"],
    );
    return folder.analysis.looks - before;
  };
  const small = built(50);
  assert.equal(built(400), small);
  assert.equal(small, 2);
});
