import assert from "node:assert/strict";
import {
  hasSharedTcpProxy,
  sharedTcpProxies,
  sharedTcpProxy,
} from "../../../lib/translate/filters/network/shared_tcp_proxy.ts";
import type { TcpProxyPlan } from "../../../lib/translate/filters/network/tcp_proxy.ts";
import { meshReader } from "../mesh_reader.ts";

const metrics = {
  defaultProviders: { metrics: ["prometheus"] },
  extensionProviders: [{ name: "prometheus", prometheus: {} }],
};
const plan: TcpProxyPlan = {
  statPrefix: "outbound|9000||a.test",
  clusters: [{ name: "outbound|9000||a.test", weight: 1 }],
};

/** An object that patches filters of some level. */
function patchOf(applyTo: string): object {
  const filter = { name: "envoy.filters.network.http_connection_manager" };
  return {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "patch", namespace: "default" },
    spec: {
      configPatches: [{
        applyTo,
        match: { context: "SIDECAR_OUTBOUND", listener: { filterChain: { filter } } },
        patch: { operation: "INSERT_BEFORE", value: { name: "envoy.filters.network.echo" } },
      }],
    },
  };
}

Deno.test("sidecars with metrics share a TCP proxy; gateways, other proxies and sidecars with patched network filters do not", () => {
  assert.equal(hasSharedTcpProxy(meshReader({ mesh: metrics })), true);
  assert.equal(hasSharedTcpProxy(meshReader()), false);
  const patched = (applyTo: string) => hasSharedTcpProxy(meshReader({ mesh: metrics, written: [patchOf(applyTo)] }));
  assert.deepEqual([patched("NETWORK_FILTER"), patched("HTTP_FILTER")], [false, true]);
  assert.deepEqual(sharedTcpProxies(meshReader()), []);
  assert.equal(hasSharedTcpProxy(meshReader({ mesh: metrics, properties: { type: "router" } })), false);
});

Deno.test("a chain shares it that has one destination and nothing of its own; a timeout goes with the connection", () => {
  const names = (changed: Partial<TcpProxyPlan>) => sharedTcpProxy({ ...plan, ...changed })?.map(({ name }) => name);
  const shared = ["envoy.filters.network.set_filter_state", "extensions.mesh.io/tcp_proxy/client"];
  assert.deepEqual(names({}), shared);
  assert.deepEqual(names({ idleTimeout: 5000 }), shared);
  assert.deepEqual(names({ protocol: "TLS" }), shared);
  for (
    const own of [
      { idleTimeout: 0 },
      { statPrefix: "mine" },
      { hashSourceIp: true },
      { maxConnectionDuration: 1 },
      { tunnel: { hostname: "a:1", post: false } },
      { clusters: [...plan.clusters, { name: "b", weight: 1 }] },
    ]
  ) assert.equal(names(own), undefined, JSON.stringify(own));
});
