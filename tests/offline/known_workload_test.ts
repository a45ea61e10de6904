/**
 * A registry's knowledge of a workload holds for its connected proxy, despite other settings of the agent, and in any
 * order.
 */
import assert from "node:assert/strict";
import { OfflineMesh } from "../../lib/offline/offline_mesh.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";

const manifests = `
apiVersion: v1
kind: Node
metadata: { name: n1, labels: { topology.kubernetes.io/region: r1, topology.kubernetes.io/zone: z1 } }
---
apiVersion: v1
kind: Pod
metadata: { name: client, namespace: shop, labels: { app: client, topology.istio.io/network: net1 } }
spec: { nodeName: n1, containers: [{ name: a, image: a }] }
status: { podIP: 10.0.0.1, conditions: [{ type: Ready, status: "True" }] }
`;

const entry = `
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: client, namespace: shop }
spec: { address: 10.0.0.1, labels: { app: client }, locality: r1/z1, network: net1 }
`;

const inline = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: client, namespace: shop }
spec:
  hosts: [client.test]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1, labels: { app: client }, locality: r1/z1, network: net1 }]
`;

const SOURCES = { "a pod and its node": manifests, "a WorkloadEntry": entry, "an endpoint of a ServiceEntry": inline };

function meshOf(): { readonly mesh: OfflineMesh; readonly write: (text: string) => void } {
  const settings = defaultSettings("pilot-discovery");
  const mesh = new OfflineMesh({ settings, domain: "cluster.local", meshConfig: "", manifestServices: true });
  const write = (text: string) => void mesh.apply([{ path: "a.yaml", bytes: new TextEncoder().encode(text) }]);
  return { mesh, write };
}

const ID = "sidecar~10.0.0.1~client.shop~shop.svc.cluster.local";
const seen = ({ proxy: { properties: { labels, locality, network } } }: ProxyState) =>
  [labels["app"] ?? "", locality, network].join(" ");

for (const [what, text] of Object.entries(SOURCES)) {
  Deno.test(`a proxy whose agent has no facts gets labels, locality and network of ${what}`, () => {
    const { mesh, write } = meshOf();
    write(text);
    assert.equal(seen(mesh.join({ id: ID })), "client r1/z1 net1");
  });

  Deno.test(`${what} that comes after the proxy counts from then on, and no longer when it is gone`, () => {
    const { mesh, write } = meshOf();
    const state = mesh.join({ id: ID });
    assert.equal(seen(state), "  ");
    write(text);
    assert.equal(seen(state), "client r1/z1 net1");
    write(text.replaceAll("z1", "z2"));
    assert.equal(seen(state), "client r1/z2 net1");
    write("");
    assert.equal(seen(state), "  ");
  });

  Deno.test(`what the agent says has precedence over ${what}`, () => {
    const { mesh, write } = meshOf();
    write(text);
    const metadata = { NAMESPACE: "shop", LABELS: { app: "other", "mesh-locality": "r9.z9" }, NETWORK: "net9" };
    assert.equal(seen(mesh.join({ id: ID, metadata })), "other r9/z9 net9");
  });

  Deno.test(`a proxy of another namespace that names the address learns nothing of ${what}`, () => {
    const { mesh, write } = meshOf();
    write(text);
    assert.equal(seen(mesh.join({ id: "sidecar~10.0.0.1~x.other~other.svc.cluster.local" })), "  ");
  });
}
