/** Policies of backends for a host of another namespace's service: they are for the service of their own namespace alone. */
import assert from "node:assert/strict";
import { resourcesOf } from "../offline/way.ts";
import { api, document, edgeGateway, httpRoute } from "./folder_world.ts";

const ALPHA = { PILOT_ENABLE_ALPHA_GATEWAY_API: true };
const HOST = "cart.shop.svc.cluster.local";

/** ServiceEntry `cart` of a namespace, with the host of Service `shop/cart`. */
function cart(namespace: string, exportTo: readonly string[]): string {
  return document({
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "cart", namespace },
    spec: {
      hosts: [HOST],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: namespace === "shop" ? "10.0.0.1" : "10.6.6.6" }],
      exportTo,
    },
  });
}

/** Policies of a namespace for its ServiceEntry `cart`: TLS with a server name, and a limit of retries. */
function policies(namespace: string, hostname: string, percent: number): string {
  const targetRefs = [{ group: "networking.mesh.io", kind: "ServiceEntry", name: "cart" }];
  const validation = { hostname, wellKnownCACertificates: "System" };
  return api("BackendTLSPolicy", "tls", { targetRefs, validation }, { namespace }) + document({
    apiVersion: "gateway.networking.x-k8s.io/v1alpha1",
    kind: "XBackendTrafficPolicy",
    metadata: { name: "retries", namespace },
    spec: { targetRefs, retryConstraint: { budget: { percent } } },
  });
}

const WORLD = edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }]) +
  httpRoute("web", [{ backendRefs: [{ name: "cart", port: 80 }] }]) +
  document({
    apiVersion: "networking.mesh.io/v1",
    kind: "WorkloadEntry",
    metadata: { name: "door", namespace: "shop" },
    spec: { address: "10.0.0.9", labels: { "gateway.networking.k8s.io/gateway-name": "edge" } },
  }) + cart("shop", ["*"]);

/** What the policies do to the cluster of the host, for a client: server name, and limit of retries in percent. */
function policed(text: string, client = "shop"): string {
  const from = client === "shop"
    ? "router~10.0.0.9~door.shop~shop.svc.cluster.local"
    : `sidecar~10.0.2.1~c.${client}~${client}.svc.cluster.local`;
  const { clusters = [] } = resourcesOf(text, from, ["cds"], ALPHA) as { clusters?: { name: string }[] };
  const found = JSON.stringify(clusters.find(({ name }) => name === `outbound|80||${HOST}`) ?? assert.fail());
  const [, name = "outbound_"] = /"sni":"([^"]+)"/.exec(found) ?? [];
  // The mesh's own server name is of no policy.
  const sni = name.startsWith("outbound_") ? "plain" : name;
  const [, percent = "no"] = /"budget_percent":\{"value":(\d+)/.exec(found) ?? [];
  return `${sni}, ${percent} limit`;
}

Deno.test("policies of another namespace's ServiceEntry with the host of a service do not touch the service", () => {
  for (const namespace of ["a-evil", "z-evil"]) {
    for (const exportTo of [["*"], ["."]]) {
      const evil = cart(namespace, exportTo) + policies(namespace, "evil.test", 77);
      assert.equal(policed(WORLD + evil), "plain, no limit", `${namespace} ${exportTo}`);
      assert.equal(policed(WORLD + policies("shop", "cart.test", 30) + evil), "cart.test, 30 limit", namespace);
      assert.equal(policed(WORLD + evil, namespace), "evil.test, 77 limit", "clients of the other service");
    }
  }
});
