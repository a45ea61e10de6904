/** The clusters that a sidecar that asks needs beside its called hosts: named by scripts, modules and other clusters. */
import assert from "node:assert/strict";
import { clustersNamedBy } from "../../lib/translate/encode/named_clusters.ts";
import { OnDemandResources } from "../../lib/discovery/proxies/on_demand_resources.ts";
import { encodeResource } from "../../lib/resource/encoded.ts";
import { InternedNames } from "../../lib/resource/names.ts";
import { CLUSTER, LISTENER } from "../../lib/xds/protocol/types.ts";
import { Fixture, service } from "./fixture.ts";

const cluster = (i: number) => `outbound|80||s${i}.example.com`;

/** The clusters that are named by a text of a listener. */
function namedIn(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const length = bytes.length < 128 ? [bytes.length] : [bytes.length & 127 | 128, bytes.length >> 7];
  const value = new Uint8Array([10, ...length, ...bytes]);
  return clustersNamedBy(encodeResource(LISTENER, "any", value)).filter((name) => /^outbound\|80\|/.test(name));
}

Deno.test("a name of a cluster is found as a text, and within the text of a script or of a module's configuration", () => {
  const name = cluster(1);
  const texts = [
    name,
    `handle:httpCall("${name}", {}, "", 5000)`,
    `local service = '${name}'\n`,
    JSON.stringify({ upstream: { cluster: name }, ...{ other: "x".repeat(200) } }),
    `[[${name}]]`,
  ];
  for (const text of texts) assert.ok(namedIn(text).includes(name), text);
  for (const other of [`outbound|80|v1|s1.example.com`, "outbound|80||*.wild.test", "outbound|80||svc_a.x"]) {
    assert.ok(namedIn(`call("${other}")`).includes(other), other);
  }
});

/** A ProxyFilter of the whole mesh. */
function filter(configPatch: object): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ProxyFilter",
    metadata: { name: "patch", namespace: "mesh-system" },
    spec: { configPatches: [configPatch] },
  };
}

Deno.test("with a cluster come the clusters of which a patch made it, and their clusters", () => {
  const aggregate = (clusters: readonly string[]) => ({
    name: "envoy.clusters.aggregate",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
      clusters,
    },
  });
  const fixture = new Fixture();
  fixture.put(service(1), service(2), service(3), service(4));
  const ofCluster = (i: number, clusters: readonly string[]) => ({
    applyTo: "CLUSTER",
    match: { context: "SIDECAR_OUTBOUND", cluster: { service: `s${i}.example.com` } },
    patch: { operation: "MERGE", value: { cluster_type: aggregate(clusters) } },
  });
  const one = filter(ofCluster(1, [cluster(2)])) as { spec: { configPatches: object[] } };
  one.spec.configPatches.push(ofCluster(2, [cluster(3)]));
  fixture.put(one);
  fixture.pipeline.flush();
  const metadata = { ON_DEMAND: { stringValue: "true" }, PROXY_CONFIG: { stringValue: "{}" } };
  const state = fixture.join({ namespace: "x", address: "10.9.0.1", metadata });
  const asked = new OnDemandResources(state);
  const held = () => {
    const sets = asked.clusters(state.resourceSets(CLUSTER)!);
    return [1, 2, 3, 4].filter((i) => sets.some((set) => set.has(cluster(i))));
  };
  asked.virtualHosts("80");
  assert.deepEqual(held(), []);
  asked.wantHosts(new InternedNames().of(["80/s1.example.com"]));
  assert.deepEqual(held(), [1, 2, 3]);
  assert.deepEqual(fixture.failures, []);
});
