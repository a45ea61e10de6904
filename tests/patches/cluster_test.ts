/** Patches of clusters. */
import assert from "node:assert/strict";
import { additionsOf } from "../../lib/patches/added.ts";
import { patchCluster, type PatchedCluster } from "../../lib/patches/cluster.ts";
import type { PatchContext } from "../../lib/patches/types.ts";
import { any } from "../../lib/pb/codec.ts";
import { decodeApi } from "../../lib/pb/envoy_api.ts";
import { Outcomes, patchesOf } from "./patches.ts";

const OUTBOUND: PatchedCluster = { context: "SIDECAR_OUTBOUND", hosts: [] };
const INBOUND: PatchedCluster = { context: "SIDECAR_INBOUND", hosts: ["a.com", "b.com"] };
const NAME = "outbound|80|v1|a.com";

function isMerged(name: string, match: object | undefined, of: PatchedCluster): boolean {
  const cluster = { name };
  const patches = patchesOf({
    applyTo: "CLUSTER",
    ...(match ? { match } : {}),
    patch: { operation: "MERGE", value: { connect_timeout: "1s" } },
  });
  return patchCluster(cluster, patches, of, () => {}) !== cluster;
}

Deno.test("a name decides alone; without one the parts of the cluster's name all count", () => {
  const cases: readonly (readonly [string, object | undefined, PatchedCluster, boolean])[] = [
    [NAME, undefined, OUTBOUND, true],
    [NAME, { context: "ANY" }, INBOUND, true],
    [NAME, { context: "SIDECAR_OUTBOUND" }, INBOUND, false],
    [NAME, { context: "GATEWAY" }, OUTBOUND, false],
    [NAME, { cluster: { name: NAME, subset: "v2", service: "b.com", portNumber: 1 } }, OUTBOUND, true],
    [NAME, { cluster: { name: "other", subset: "v1" } }, OUTBOUND, false],
    [NAME, { cluster: { subset: "v1", service: "a.com", portNumber: 80 } }, OUTBOUND, true],
    [NAME, { cluster: { subset: "v2" } }, OUTBOUND, false],
    [NAME, { cluster: { service: "b.com" } }, OUTBOUND, false],
    [NAME, { cluster: { portNumber: 81 } }, OUTBOUND, false],
    ["inbound|80||", { cluster: { service: "b.com", portNumber: 80 } }, INBOUND, true],
    ["inbound|80||", { cluster: { service: "c.com" } }, INBOUND, false],
    ["outbound_.80_.v1_.a.com", { cluster: { subset: "v1", service: "a.com", portNumber: 80 } }, OUTBOUND, true],
    ["PassthroughCluster", { cluster: { service: "a.com" } }, OUTBOUND, false],
  ];
  for (const [name, match, of, expected] of cases) {
    assert.equal(isMerged(name, match, of), expected, JSON.stringify([name, match]));
  }
});

Deno.test("a cluster without a matching patch is the same object; a removed cluster is gone, whatever patches follow", () => {
  const cluster = { name: NAME };
  const merge = { applyTo: "CLUSTER", patch: { operation: "MERGE", value: { connect_timeout: "1s" } } };
  const replace = { applyTo: "CLUSTER", patch: { operation: "REPLACE", value: { name: "x" } } };
  const remove = { applyTo: "CLUSTER", patch: { operation: "REMOVE" } };
  const outcomes = new Outcomes();
  assert.equal(patchCluster(cluster, patchesOf(replace), OUTBOUND, outcomes.report), cluster);
  assert.equal(patchCluster(cluster, patchesOf(merge, remove, merge), OUTBOUND, outcomes.report), undefined);
  assert.deepEqual(outcomes.heard, ["0", "1"]);
});

Deno.test("a merge appends lists, replaces durations, maps by key, and keeps what it does not name", () => {
  const cluster = {
    name: NAME,
    connect_timeout: { seconds: 9, nanos: 5 },
    circuit_breakers: { thresholds: [{ max_requests: { value: 1 } }], per_host_thresholds: [] },
    metadata: { filter_metadata: { a: { fields: {} }, b: { fields: {} } } },
    alt_stat_name: "stays",
  };
  const value = {
    connect_timeout: "1s",
    circuit_breakers: { thresholds: [{ priority: "HIGH" }] },
    metadata: { filter_metadata: { b: { x: 1 } } },
  };
  const patches = patchesOf({ applyTo: "CLUSTER", patch: { operation: "MERGE", value } });
  assert.deepEqual(JSON.parse(JSON.stringify(patchCluster(cluster, patches, OUTBOUND, () => {}))), {
    name: NAME,
    connect_timeout: { seconds: 1 },
    circuit_breakers: { thresholds: [{ max_requests: { value: 1 } }, { priority: 1 }], per_host_thresholds: [] },
    metadata: { filter_metadata: { a: { fields: {} }, b: { fields: { x: { numberValue: 1 } } } } },
    alt_stat_name: "stays",
  });
});

const TLS = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
const socket = (name: string, sni: string) => ({
  name,
  typed_config: any(TLS, { sni, max_session_keys: { value: 3 } }),
});
const patchSocket = (name: string) => ({
  applyTo: "CLUSTER",
  patch: {
    operation: "MERGE",
    value: {
      connect_timeout: "1s",
      transport_socket: { name, typed_config: { "@type": `type.googleapis.com/${TLS}`, sni: "new" } },
    },
  },
});

Deno.test("a transport socket of the same name has its configuration merged, and nothing else of the patch counts", () => {
  const read = (packed: unknown) => decodeApi(TLS, (packed as { value: Uint8Array }).value);
  const patched = (cluster: object, name: string) =>
    patchCluster(cluster, patchesOf(patchSocket(name)), OUTBOUND, () => {})!;
  const same = patched({ name: NAME, transport_socket: socket("tls", "old") }, "tls");
  assert.deepEqual(read(same.transport_socket!.typed_config), { sni: "new", max_session_keys: { value: 3 } });
  assert.equal(same.connect_timeout, undefined);
  const other = patched({ name: NAME, transport_socket: socket("tls", "old") }, "raw");
  assert.deepEqual(read(other.transport_socket!.typed_config), { sni: "new" });
  const matches = { name: NAME, transport_socket_matches: [{ transport_socket: socket("tls", "old") }] };
  assert.equal(patched(matches, "raw"), matches);
  const matched = patched(matches, "tls").transport_socket_matches![0]!;
  assert.deepEqual(read(matched.transport_socket!.typed_config), { sni: "new", max_session_keys: { value: 3 } });
});

Deno.test("a packed message of another type cannot be merged: the patch fails and is reported, and Envoy rejects it", () => {
  const cluster = { name: NAME, transport_socket: { name: "tls", typed_config: any("google.protobuf.StringValue") } };
  const outcomes = new Outcomes();
  const patched = patchCluster(cluster, patchesOf(patchSocket("tls")), OUTBOUND, outcomes.report);
  assert.deepEqual(Object.keys(patched!.typed_extension_protocol_options!), [
    "ProxyFilter/x/f spec.configPatches[0], which cannot be used",
  ], "TLS may be what keeps others out");
  assert.match(outcomes.heard.join(), /^0: .*UpstreamTlsContext.*StringValue/);
});

Deno.test("what is added for any side is added for clients alone", () => {
  const add = (context: string) => ({
    applyTo: "CLUSTER",
    match: { context },
    patch: { operation: "ADD", value: { name: context } },
  });
  const patches = patchesOf(...["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"].map(add));
  const addedTo = (context: PatchContext) => additionsOf(patches, "CLUSTER", context).map(({ context }) => context);
  assert.deepEqual(addedTo("SIDECAR_INBOUND"), ["SIDECAR_INBOUND"]);
  assert.deepEqual(addedTo("SIDECAR_OUTBOUND"), ["ANY", "SIDECAR_OUTBOUND"]);
  assert.deepEqual(addedTo("GATEWAY"), ["ANY", "GATEWAY"]);
});
