import assert from "node:assert/strict";
import { findingsOf } from "../../lib/analyze/findings_of.ts";
import { AnalysisReader } from "../../lib/analyze/reader/reader.ts";
import { parseObject } from "../../lib/config/object.ts";
import { isKind } from "../../lib/config/types.ts";
import { inFile } from "../config/origins.ts";
import { AnalyzedFolder } from "./support/analyzed.ts";

const gateway = (at: number) =>
  `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: gateway-${at}, namespace: x }
spec: { servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }
---
`;

/** A virtual service with thousands of unknown names. */
function hostile(annotations: Readonly<Record<string, string>>) {
  const http = Array.from({ length: 20_000 }, (_, at) => ({
    match: [{ uri: { exact: `/${at}` }, gateways: [`gatewai-${at}`] }],
    route: [{ destination: { host: `unknown-${at}`, subset: "v9" } }],
  }));
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "VirtualService",
    metadata: { name: "many", namespace: "x", annotations },
    spec: { hosts: ["a.example.com"], http },
  };
}

for (const annotations of [{}, { "galley.mesh.io/analyze-suppress": "*" }]) {
  Deno.test(`an object with 20,000 mistakes asks no more than the findings that are kept need: ${JSON.stringify(annotations)}`, () => {
    const folder = new AnalyzedFolder();
    folder.write({ "gateways.yaml": Array.from({ length: 300 }, (_, at) => gateway(at)).join("") });
    const { object } = parseObject(hostile(annotations), inFile("x"), { defaultNamespace: "x" });
    assert.ok(object !== undefined && isKind(object, "VirtualService"));
    let asked = 0;
    const counting = new Proxy(readerOf(folder), {
      get: (target, name) => {
        asked++;
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const found = findingsOf(object, counting);
    assert.equal(found.length, "galley.mesh.io/analyze-suppress" in annotations ? 0 : 100);
    assert.ok(asked < 2000, `${asked} questions`);
  });
}

function readerOf({ store, facts, fixture }: AnalyzedFolder): AnalysisReader {
  const world = {
    mesh: fixture.pipeline.translator.mesh,
    store,
    facts,
    factView: { empty: () => true, service: () => undefined, namespaces: () => [], workloadsWith: () => [] },
    settings: { domainSuffix: "cluster.local", assumeServices: false },
    refused: new Set<string>(),
  };
  return new AnalysisReader(world as unknown as ConstructorParameters<typeof AnalysisReader>[0]);
}
