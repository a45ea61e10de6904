/** Backends that are not exported to the namespace of a Gateway's proxies. */
import assert from "node:assert/strict";
import { checked, wayOf } from "../offline/way.ts";
import { apiObject, DerivationWorld, plainService } from "./derivation_world.ts";
import { api, document, edgeGateway, httpRoute } from "./folder_world.ts";

const GATEWAY = apiObject("Gateway", "edge", {
  gatewayClassName: "mesh",
  listeners: [{ name: "http", port: 80, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } }],
});
const ROUTE = apiObject("HTTPRoute", "web", {
  parentRefs: [{ name: "edge", namespace: "shop" }],
  rules: [{ backendRefs: [{ name: "a", port: 80 }] }],
}, "pay");

Deno.test("a Service that is not exported to the Gateway's namespace is no backend, and the status says why", () => {
  const verdict = (annotations: object) => {
    const service = plainService("a", "pay");
    const world = new DerivationWorld(GATEWAY, ROUTE, {
      ...service,
      metadata: { ...(service.metadata as object), annotations },
    });
    const [judged] = world.verdicts.route("HTTPRoute/pay/web");
    return judged!.resolved.resolvedRefs;
  };
  for (const key of ["networking.mesh.io/exportTo", "networking.istio.io/exportTo"]) {
    for (const hidden of [".", "~", "far,pay"]) {
      const { status, reason, message } = verdict({ [key]: hidden });
      assert.deepEqual([status, reason], ["False", "BackendNotFound"], hidden);
      assert.match(message, /exported to namespace shop of the Gateway \(a\.pay\.svc\.cluster\.local is not\)/);
    }
    for (const shown of ["*", "shop", ".,shop"]) assert.equal(verdict({ [key]: shown }).status, "True", shown);
  }
  assert.equal(verdict({}).status, "True");
});

Deno.test("in a folder, requests for a backend that is hidden from the Gateway get 500, and the route has a finding", async () => {
  const folder = (exportTo: readonly string[]) =>
    edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }]) +
    httpRoute("web", [{ backendRefs: [{ name: "a", namespace: "pay", port: 80 }] }]) +
    api("ReferenceGrant", "g", {
      from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "shop" }],
      to: [{ group: "", kind: "Service" }],
    }, { namespace: "pay" }) +
    document({
      ...{ apiVersion: "networking.mesh.io/v1", kind: "ServiceEntry", metadata: { name: "a", namespace: "pay" } },
      spec: {
        ...{ hosts: ["a.pay.svc.cluster.local"], resolution: "STATIC", exportTo },
        ports: [{ number: 80, name: "http", protocol: "HTTP" }],
        endpoints: [{ address: "10.0.0.1" }],
      },
    }) +
    document({
      ...{ apiVersion: "networking.mesh.io/v1", kind: "WorkloadEntry", metadata: { name: "door", namespace: "shop" } },
      spec: { address: "10.0.0.9", labels: { "gateway.networking.k8s.io/gateway-name": "edge" } },
    });
  const at = async (text: string) =>
    (await wayOf(text, "router~10.0.0.9~door.shop~shop.svc.cluster.local", "http://x/")).split(" > ")[1];
  const found = (text: string) =>
    checked(text).filter(({ code }) => code === "MSH1122").map(({ place, message }) => `${place.field}: ${message}`);
  const hidden = folder(["."]);
  assert.equal(await at(hidden), "500");
  assert.equal(found(hidden).length, 1);
  assert.match(found(hidden)[0]!, /^spec\.rules\[0\]\.backendRefs\[0\]\.name: .*exported to namespace shop/);
  const shown = folder(["shop"]);
  assert.deepEqual([await at(shown), found(shown)], ["10.0.0.1:80", []]);
});

Deno.test("a hidden ServiceEntry of another namespace does not take the place of the ServiceEntry that a Gateway sees", () => {
  const entry = (namespace: string, age: number, exportTo: readonly string[], port = 443) => ({
    ...{ apiVersion: "networking.mesh.io/v1", kind: "ServiceEntry" },
    metadata: { name: "stripe", namespace, creationTimestamp: `2026-01-01T00:00:0${age}Z` },
    spec: {
      hosts: ["api.stripe.test"],
      resolution: "DNS",
      exportTo,
      ports: [{ number: port, name: "a", protocol: "HTTP" }],
    },
  });
  const route = apiObject("HTTPRoute", "web", {
    parentRefs: [{ name: "edge", namespace: "shop" }],
    rules: [{ backendRefs: [{ group: "networking.mesh.io", kind: "Hostname", name: "api.stripe.test", port: 443 }] }],
  }, "pay");
  const verdict = (...entries: readonly ReturnType<typeof entry>[]) => {
    const [judged] = new DerivationWorld(GATEWAY, route, ...entries).verdicts.route("HTTPRoute/pay/web");
    return judged!.resolved.resolvedRefs.status;
  };
  const hidden = entry("evil", 1, ["."]);
  assert.equal(verdict(hidden), "False");
  assert.equal(verdict(hidden, entry("shop", 2, ["."])), "True");
  assert.equal(verdict(hidden, entry("pay", 2, ["*"])), "True");
  assert.equal(verdict(entry("evil", 1, ["*"], 80), entry("shop", 2, ["."])), "True", "the Gateway's own comes first");
});
