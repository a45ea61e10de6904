/** A workload's metadata for metrics, decoded. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { peerMetadata } from "../../../lib/agent/node/peer_metadata.ts";
import { workloadOf } from "../../../lib/agent/node/workload.ts";
import { defaultProxySettings, mergeProxySettings } from "../../../lib/config/mesh/merge.ts";
import { PEER_METADATA } from "../../../lib/config/mesh/peer_metadata.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { fromStruct } from "../../../lib/pb/wellknown.ts";
import type { google } from "../../../proto/gen/types.ts";

function said(header: string): unknown {
  const bytes = Buffer.from(header, "base64");
  return fromStruct(decode<google.protobuf.Value>("google.protobuf.Value", bytes).structValue);
}

const base = { workload: "cart-v1", namespace: "shop", cluster: "c1", labels: {}, additional: [] };

Deno.test("the header is a message of all parts; missing parts have the value unknown", () => {
  const { header, ...parts } = peerMetadata({ ...base, workload: "", cluster: "" });
  const unknown = { workload: "unknown", app: "unknown", version: "unknown", service: "unknown", cluster: "unknown" };
  assert.deepEqual(parts, { ...unknown, namespace: "shop", revision: "latest" });
  assert.deepEqual(said(header!), parts);
});

Deno.test("canonical names come from labels in either spelling, then from common labels", () => {
  const of = (labels: Readonly<Record<string, string>>) => {
    const { service, revision } = peerMetadata({ ...base, labels });
    return [service, revision];
  };
  assert.deepEqual(of({}), ["cart-v1", "latest"]);
  assert.deepEqual(of({ app: "a", version: "1" }), ["a", "1"]);
  assert.deepEqual(of({ app: "a", "app.kubernetes.io/name": "n" }), ["n", "latest"]);
  assert.deepEqual(of({ app: "a", "service.istio.io/canonical-name": "c" }), ["c", "latest"]);
});

Deno.test("additional labels are sent if the setting names them, as many as there is room for", () => {
  const labels = { role: "buyer", other: "x", ...Object.fromEntries(many.map((name) => [name, "v".repeat(300)])) };
  const { header } = peerMetadata({ ...base, labels, additional: ["role", "none", ...many] });
  const { labels: found } = said(header!) as { labels: Record<string, string> };
  assert.deepEqual([found.role, found.other], ["buyer", undefined]);
  assert.equal(found.l0?.length, 253);
  assert.equal(Object.keys(found).length, 8);
});

const many = Array.from({ length: 100 }, (_, i) => `l${i}`);

Deno.test("PILOT_MX_ADDITIONAL_LABELS names the further labels of an agent's workload", () => {
  const { node, peerStatement } = workloadOf({
    ...{ role: "sidecar", variables: {}, annotations: {}, labels: { role: "buyer", team: "a", other: "x" } },
    settings: defaultSettings("pilot-agent", { PILOT_MX_ADDITIONAL_LABELS: "role, team,," }),
    proxy: mergeProxySettings(defaultProxySettings({ systemNamespace: "mesh-system" }), {}),
    machine: { hostname: "cart-1", addresses: ["10.0.0.1"] },
    ...{ domain: "", serviceCluster: "mesh-proxy", outlierLogPath: undefined, stsPort: 0, version: "1" },
  });
  const { header } = node.metadata[PEER_METADATA] as { readonly header: string };
  assert.deepEqual((said(header) as { labels: unknown }).labels, { role: "buyer", team: "a" });
  assert.equal(peerStatement, header);
});
