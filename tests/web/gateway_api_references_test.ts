import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import { gatewayApiReferences, targetKey } from "../../lib/web/gateway_api_references.ts";
import { inFile } from "../config/origins.ts";

/** The names in an object of namespace `shop`. */
function namesIn(kind: string, spec: unknown): string[] {
  const metadata = { name: "a", namespace: "shop" };
  const tree = { apiVersion: "gateway.networking.k8s.io/v1", kind, metadata, spec };
  const { object, findings } = parseObject(tree, inFile("a.yaml"), { defaultNamespace: "shop" });
  assert.ok(object !== undefined, JSON.stringify(findings));
  return gatewayApiReferences(object as AnyConfigObject, "cluster.local").map(({ sort, name }) => `${sort} ${name}`);
}

Deno.test({
  name: "routes name their parents, backends and mirrors; sets and policies name what they are for",
  permissions: "none",
  fn() {
    const mirror = { type: "RequestMirror", requestMirror: { backendRef: { name: "shadow", port: 80 } } };
    const rules = [{
      filters: [mirror],
      backendRefs: [
        { name: "web", port: 80 },
        { name: "other", namespace: "b", port: 80 },
        { group: "networking.istio.io", kind: "Hostname", name: "a.example.com", port: 80 },
        { group: "example.com", kind: "Pool", name: "p" },
      ],
    }];
    const parentRefs = [{ name: "door", namespace: "infra" }, { group: "", kind: "Service", name: "web", port: 80 }];
    assert.deepEqual(namesIn("HTTPRoute", { parentRefs, rules }), [
      "object ApiGateway/infra/door",
      "host web.shop.svc.cluster.local",
      "host web.shop.svc.cluster.local",
      "host other.b.svc.cluster.local",
      "host a.example.com",
      "host shadow.shop.svc.cluster.local",
    ]);
    const listeners = [{ name: "http", port: 80, protocol: "HTTP" }];
    assert.deepEqual(namesIn("ListenerSet", { parentRef: { name: "door" }, listeners }), [
      "object ApiGateway/shop/door",
    ]);
    const validation = { hostname: "a.example.com", wellKnownCACertificates: "System" };
    const targetRefs = [{ group: "", kind: "Service", name: "web" }];
    assert.deepEqual(namesIn("BackendTLSPolicy", { targetRefs, validation }), ["host web.shop.svc.cluster.local"]);
    assert.equal(targetKey("GatewayClass", "shop", "mesh-waypoint"), "GatewayClass//mesh-waypoint");
  },
});
