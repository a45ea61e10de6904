import assert from "node:assert/strict";
import {
  hasSharedTcpProxy,
  sharedTcpProxies,
  sharedTcpProxy,
} from "../../../lib/translate/filters/network/shared_tcp_proxy.ts";
import type { CompiledPatch } from "../../../lib/patches/types.ts";
import type { TcpProxyPlan } from "../../../lib/translate/filters/network/tcp_proxy.ts";
import { fakeReader } from "../fake_reader.ts";

const metrics = {
  defaultProviders: { metrics: ["prometheus"] },
  extensionProviders: [{ name: "prometheus", prometheus: {} }],
};
const plan: TcpProxyPlan = {
  statPrefix: "outbound|9000||a.test",
  clusters: [{ name: "outbound|9000||a.test", weight: 1 }],
};

Deno.test("sidecars share a TCP proxy where metrics are measured, gateways and others do not, nor those whose network filters are patched", () => {
  assert.equal(hasSharedTcpProxy(fakeReader({ mesh: metrics })), true);
  assert.equal(hasSharedTcpProxy(fakeReader()), false);
  const patched = (applyTo: string) =>
    hasSharedTcpProxy(fakeReader({ mesh: metrics, patches: { listeners: [{ applyTo } as CompiledPatch] } }));
  assert.deepEqual([patched("NETWORK_FILTER"), patched("HTTP_FILTER")], [false, true]);
  assert.deepEqual(sharedTcpProxies(fakeReader()), []);
  assert.equal(hasSharedTcpProxy(fakeReader({ mesh: metrics, properties: { type: "router" } })), false);
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
