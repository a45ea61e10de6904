/**
 * The objects of the shop in the demo on a cluster.
 *
 *     gateway ─> web ─┬─> catalog (v1 and v2)
 *                     └─> cart ─> stock
 *
 * @module
 */
import { echoObjects } from "../../tests/cluster/support/workloads.ts";

/** The namespace of the shop, and a namespace outside of the mesh. */
export const SHOP = "shop", STRANGERS = "strangers";

/** The gateway of `manifests/gateway.yaml`. */
export const GATEWAY = { namespace: "mesh-ingress", name: "mesh-ingressgateway" } as const;

const networking = "networking.mesh.io/v1";

/** The namespaces and the four services. */
export function shopObjects(): readonly unknown[] {
  const service = (name: string, calls: readonly string[] = [], version = "v1", replicas = 2) =>
    echoObjects({
      ...{ namespace: SHOP, name, replicas, version },
      container: {
        env: [
          { name: "VERSION", value: version },
          { name: "CALLS", value: calls.map((called) => `http://${called}/`).join(",") },
        ],
      },
    });
  const [second] = echoObjects({ namespace: SHOP, name: "catalog-v2", version: "v2", labels: { shop: "catalog" } });
  const [first] = echoObjects({ namespace: SHOP, name: "catalog", labels: { shop: "catalog" } });
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: SHOP, labels: { "mesh-injection": "enabled" } } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: STRANGERS } },
    ...service("web", ["catalog", "cart"]),
    ...service("cart", ["stock"]),
    ...service("stock"),
    ...[first, second],
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "catalog", namespace: SHOP },
      spec: { selector: { shop: "catalog" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
    },
    {
      apiVersion: networking,
      kind: "DestinationRule",
      metadata: { name: "catalog", namespace: SHOP },
      spec: {
        host: "catalog",
        subsets: ["v1", "v2"].map((version) => ({ name: version, labels: { version } })),
      },
    },
    weights(0),
  ];
}

/** Sends a share of the catalog's requests to v2, per cent. */
export function weights(share: number) {
  const route = [["v1", 100 - share], ["v2", share]].map(([subset, weight]) => ({
    destination: { host: "catalog", subset },
    weight,
  }));
  return {
    apiVersion: networking,
    kind: "VirtualService",
    metadata: { name: "catalog", namespace: SHOP },
    spec: { hosts: ["catalog"], http: [{ route }] },
  };
}

/** The way from outside to the service web. */
export function gatewayObjects(): readonly unknown[] {
  return [
    {
      apiVersion: networking,
      kind: "Gateway",
      metadata: { name: "door", namespace: SHOP },
      spec: {
        selector: { mesh: "ingressgateway" },
        servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
      },
    },
    {
      apiVersion: networking,
      kind: "VirtualService",
      metadata: { name: "door", namespace: SHOP },
      spec: {
        hosts: ["*"],
        gateways: ["door"],
        http: [{ route: [{ destination: { host: `web.${SHOP}.svc.cluster.local` } }] }],
      },
    },
  ];
}
