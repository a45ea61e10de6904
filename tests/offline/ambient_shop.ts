/**
 * Manifests of a namespace in ambient mode, for explanations.
 * @module
 */

const pod = (name: string, ip: string, more = "") => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, uid: ${name}, labels: { app: ${name} }, annotations: { ${more} } }
spec: { serviceAccountName: ${name}, nodeName: n1, containers: [{ name: main, image: main, ports: [{ containerPort: 8080 }] }] }
status: { phase: Running, podIP: ${ip}, podIPs: [{ ip: ${ip} }], conditions: [{ type: Ready, status: "True" }] }
`;
const TAKEN = 'ambient.istio.io/redirection: "enabled"';
/** A Service that selects the pods of its name. */
export const service = (name: string, ip: string, labels = "") => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop, labels: { ${labels} } }
spec: { clusterIP: ${ip}, clusterIPs: [${ip}], selector: { app: ${name} }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
`;
/** An AuthorizationPolicy of the namespace `shop`. */
export const policy = (name: string, spec: string) => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: shop }
spec: ${spec}
`;
const NAMESPACE = `
apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { istio.io/dataplane-mode: ambient } }
`;
/** Two pods in ambient mode, `web` and `cart`, and a pod outside. */
export const SHOP = [
  NAMESPACE,
  pod("web", "10.0.0.1", TAKEN),
  pod("cart", "10.0.0.2", TAKEN),
  pod("outside", "10.0.0.3"),
  service("cart", "10.96.0.2"),
  service("outside", "10.96.0.3"),
];

/** Only connections of tunnels come in. */
export const STRICT = `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: default, namespace: shop }
spec: { mtls: { mode: STRICT } }
`;

/** A ready waypoint `gate` with its Service and pod. */
export const WAYPOINT = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop }
spec: { gatewayClassName: istio-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
status: { addresses: [{ type: IPAddress, value: 10.96.0.9 }] }
---
apiVersion: v1
kind: Service
metadata: { name: gate, namespace: shop, labels: { gateway.istio.io/managed: istio.io-mesh-controller } }
spec: { clusterIP: 10.96.0.9, clusterIPs: [10.96.0.9], selector: { app: gate }, ports: [{ name: hbone, port: 15008 }] }
---
${
  pod("gate", "10.0.0.9", '"x": "y"').replace(
    "labels: { app: gate }",
    "labels: { app: gate, gateway.istio.io/managed: istio.io-mesh-controller }",
  )
}`;

/** A host whose workload is in network `west`. */
export const FAR = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: db, namespace: shop }
spec:
  hosts: [db.example]
  addresses: [240.0.0.1]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1, network: west }]
`;
/** A Gateway into network `west`. */
export const WEST = (address = "{ type: IPAddress, value: 192.0.2.9 }") => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: west, namespace: shop, labels: { topology.istio.io/network: west } }
spec:
  gatewayClassName: istio-remote
  addresses: [${address}]
  listeners: [{ name: mesh, port: 15008, protocol: HBONE }]
`;
