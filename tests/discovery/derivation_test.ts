/** Facts and objects of two sources, through a derivation and the pipeline, to a proxy. */
import assert from "node:assert/strict";
import type { Derivation } from "../../lib/config/derive/derivation.ts";
import { DerivationEngine } from "../../lib/config/derive/engine.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { parseObject } from "../../lib/config/object.ts";
import { hiddenFinding } from "../../lib/config/overlap.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import type { AnyConfigObject, ConfigObject } from "../../lib/config/types.ts";
import { inFile } from "../config/origins.ts";
import { contents, Fixture } from "./fixture.ts";

/** An entry for each service of the orchestrator, in the address family chosen by the namespace. */
const entries: Derivation = {
  name: "services",
  from: ["Service"],
  derive(input, read) {
    if (input.kind !== "Service") return [];
    const { name, namespace } = input.meta;
    const suffix = read.fact("Namespace", "", namespace)?.meta.labels["example.com/suffix"] ?? "svc.cluster.local";
    return [{
      kind: "ServiceEntry",
      meta: { name, namespace },
      spec: {
        hosts: [`${name}.${namespace}.${suffix}`],
        addresses: input.spec.clusterIPs,
        ports: input.spec.ports.map(({ port, name }) => ({ number: port, name, protocol: "HTTP" })),
        location: "MESH_INTERNAL",
        resolution: "STATIC",
        endpoints: [{ address: "10.1.0.1" }],
      },
    }];
  },
};

const options = { digestKey: new Uint8Array(32) };
const uid = (value: string) => ({ from: "api", source: "cluster-1", uid: value }) as const;

function service(name: string, port: number) {
  const tree = {
    metadata: { name, namespace: "x" },
    spec: { clusterIP: "10.0.0.9", ports: [{ port, name: "http" }] },
  };
  const { fact } = readFact("Service", tree, uid(name), options);
  assert.ok(fact !== undefined);
  return fact;
}

function namespace(suffix: string) {
  const { fact } = readFact(
    "Namespace",
    { metadata: { name: "x", labels: { "example.com/suffix": suffix } } },
    uid("ns"),
    options,
  );
  assert.ok(fact !== undefined);
  return fact;
}

function written(file: string, source: string, port: number): ConfigObject {
  const { object, findings } = parseObject(
    {
      apiVersion: "networking.mesh.io/v1",
      kind: "ServiceEntry",
      metadata: { name: "web", namespace: "x" },
      spec: {
        hosts: ["web.x.svc.cluster.local"],
        ports: [{ number: port, name: "http", protocol: "HTTP" }],
        resolution: "STATIC",
        endpoints: [{ address: "10.1.0.2" }],
      },
    },
    { ...inFile(file), source },
    { defaultNamespace: "default" },
  );
  assert.ok(object !== undefined, findings.map(formatFinding).join());
  return object;
}

Deno.test("objects of two sources and objects derived from facts reach a proxy by precedence, and leave it again", () => {
  const fixture = new Fixture();
  const store = new ConfigStore();
  const facts = new FactStore();
  // The union by kind is the same objects with `kind` telling the spec's type.
  const objects = (list: readonly ConfigObject[]) => list as readonly AnyConfigObject[];
  store.subscribe(({ added, updated, removed }) => {
    fixture.pipeline.configChanged(
      objects([...removed, ...updated.map((one) => one.old)]),
      objects([...added, ...updated.map((one) => one.new)]),
    );
  });
  const [high, low, api] = [store.addSource("high", 0), store.addSource("low", 1), facts.addSource("cluster-1", 0)];
  const engine = new DerivationEngine(entries, {
    store,
    facts,
    mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }),
    target: store.addSource("services", 100),
    onFindings: ({ appeared }) => assert.deepEqual(appeared, []),
  });
  fixture.pipeline.flush();
  const proxy = fixture.join({ namespace: "x", address: "10.9.9.9" });
  const hosts = () => {
    fixture.pipeline.flush();
    return Object.keys(contents(proxy)).filter((name) => name.startsWith("cluster/outbound|")).map((name) =>
      name.slice(17)
    );
  };
  const host = "web.x.svc.cluster.local";

  api.apply({ upserted: [service("web", 80)], removed: [] });
  assert.deepEqual(hosts(), [`80||${host}`], "derived from a fact");
  assert.deepEqual(store.get("ServiceEntry", "x", "web")?.origin, {
    from: "derived",
    source: "services",
    of: "Service/x/web",
    parent: uid("web"),
  });
  low.apply({ upserted: [written("low.yaml", "low", 81)], removed: [] });
  assert.deepEqual(hosts(), [`81||${host}`], "an object that a user wrote has precedence");
  high.apply({ upserted: [written("high.yaml", "high", 82)], removed: [] });
  assert.deepEqual(hosts(), [`82||${host}`]);
  assert.deepEqual(store.hidden().map((hidden) => formatFinding(hiddenFinding(hidden)).split(": ")[0]), [
    "low/low.yaml:1 ServiceEntry x/web",
    "derived from Service/x/web (cluster-1 (uid web)) ServiceEntry x/web",
  ]);
  api.apply({ upserted: [service("web", 90)], removed: [] });
  assert.deepEqual(hosts(), [`82||${host}`], "a change of what is hidden changes nothing");
  high.apply({ upserted: [], removed: ["ServiceEntry/x/web"] });
  assert.deepEqual(hosts(), [`81||${host}`]);
  low.apply({ upserted: [], removed: ["ServiceEntry/x/web"] });
  assert.deepEqual(hosts(), [`90||${host}`], "the derived one is back, in its last version");
  api.apply({ upserted: [namespace("svc.other.local")], removed: [] });
  assert.deepEqual(hosts(), ["90||web.x.svc.other.local"], "what it read has changed");
  api.apply({ upserted: [], removed: ["Service/x/web"] });
  assert.deepEqual(hosts(), [], "gone with what it was derived from");
  assert.deepEqual([store.hidden(), engine.findings(), fixture.failures], [[], [], []]);
});
