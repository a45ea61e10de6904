/**
 * Meshes in ambient mode for walks through the pages: pods in all states of capture, services behind waypoints that are
 * there and that are not, policies of tunnels and of waypoints, a machine, long names and long addresses.
 *
 * @module
 */
import { podName } from "../../../lib/ambient/workloads.ts";

/** A long name, as generated names are. */
const LONG = "checkout-and-payment-orchestration-backend-canary-release";

const nameAt = (at: number) => at === 0 ? LONG : `service-${at}`;
const PART = "gateway.istio.io/managed: istio.io-mesh-controller";

/** Annotations of pods, in turn: captured ones, one that waits, one that starts, one with a sidecar. */
const CAPTURES = [
  "ambient.istio.io/redirection: enabled",
  "ambient.istio.io/redirection: enabled",
  "ambient.istio.io/redirection: enabled",
  "",
  "ambient.istio.io/redirection: pending",
  'sidecar.istio.io/status: "{}"',
];

function pod(name: string, app: string, addresses: readonly string[], at: number, labels = ""): string {
  const ips = addresses.map((ip) => `{ ip: "${ip}" }`).join(", ");
  return `apiVersion: v1
kind: Pod
metadata:
  { name: ${name}, namespace: shop, labels: { app: ${app}, ${labels} }, annotations: { ${
    CAPTURES[at % CAPTURES.length]
  } } }
spec: { nodeName: worker-pool-large-eu-central-1-n${at % 3}, serviceAccountName: ${app}, containers: [] }
status: { phase: Running, podIP: "${addresses[0]}", podIPs: [${ips}], conditions: [{ type: Ready, status: "True" }] }
---
`;
}

function service(at: number): string {
  const name = nameAt(at);
  const waypoint = at % 3 === 0 ? "gate" : at % 7 === 1 ? "absent" : "none";
  const ip = `10.96.${at >> 8}.${at & 255}`;
  return `apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop, labels: { istio.io/use-waypoint: ${waypoint} } }
spec: { clusterIP: ${ip}, clusterIPs: [${ip}], selector: { app: ${name} }, ports: [{ name: http, port: 80 }] }
---
${
    pod(
      `${name}-7c9d8b6f5d-x2x${at}`,
      name,
      [`10.1.${at >> 8}.${at & 255}`, `fd00:1234:5678:9abc:def0:1234:5678:${at + 1}`],
      at,
    )
  }`;
}

const POLICIES = ["allow-frontends-of-the-shop", "partners", "reporting", "nightly-jobs"].map((name, at) =>
  `apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: shop }
spec:
  selector: { matchLabels: { app: ${at < 3 ? LONG : "service-2"} } }
  rules: [{ from: [{ source: { principals: [cluster.local/ns/web/sa/${name}] } }] }]
---
`
).join("");

const WORLD = `apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { istio.io/dataplane-mode: ambient } }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop }
spec: { gatewayClassName: istio-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
status: { addresses: [{ type: IPAddress, value: 10.96.255.9 }] }
---
apiVersion: v1
kind: Service
metadata: { name: gate, namespace: shop, labels: { ${PART} } }
spec: { clusterIP: 10.96.255.9, clusterIPs: [10.96.255.9], selector: { app: gate }, ports: [{ name: http, port: 15008 }] }
---
${pod("gate-6f7d-abcde", "gate", ["10.1.255.9"], 3, PART)}apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: all, namespace: shop }
spec: { action: DENY, rules: [{ to: [{ operation: { ports: ["81"] } }] }] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: paths, namespace: shop }
spec:
  targetRefs: [{ group: "", kind: Service, name: ${LONG} }]
  rules: [{ to: [{ operation: { paths: [/public/*] } }] }]
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: ${LONG}-machine, namespace: shop }
spec: { address: "fd00:1234:5678:9abc:def0:1234:5678:ffff", labels: { app: machine }, network: other-network-far-away }
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: outside, namespace: shop, labels: { istio.io/use-waypoint: absent } }
spec:
  hosts: [payments-api-with-a-long-name.partner-organisation.example.com]
  addresses: [240.240.0.1]
  location: MESH_EXTERNAL
  resolution: DNS
  ports: [{ number: 443, name: tls, protocol: TLS }]
`;

/** The files of a mesh with some services. */
export function ambientMeshOf(services: number): Readonly<Record<string, string>> {
  const all = Array.from({ length: services }, (_, at) => service(at)).join("");
  return { "services.yaml": all, "policies.yaml": POLICIES, "world.yaml": WORLD };
}

/** The names of a workload that a tunnel rejects, and of a policy that all tunnels get. */
export const REJECTED = podName("Kubernetes", "shop", `${LONG}-7c9d8b6f5d-x2x0`);

const WAYPOINT_ID = "waypoint~10.1.255.9~gate-6f7d-abcde.shop~shop.svc.cluster.local";
const text = (stringValue: string) => ({ stringValue });

/** The waypoint that is there, as a proxy. */
export const WAYPOINT_PROXY = {
  id: WAYPOINT_ID,
  metadata: {
    fields: {
      PROXY_CONFIG: text("{}"),
      LABELS: { structValue: { fields: { "gateway.networking.k8s.io/gateway-name": text("gate") } } },
    },
  },
};

/** The addresses of the pages of ambient mode, and of pages that look different there, by a short name. */
export function ambientPages(): Readonly<Record<string, string>> {
  const proxy = `proxyID=${encodeURIComponent(WAYPOINT_ID)}`;
  return {
    start: "/debug",
    pods: "/debug/ambient_pods",
    podsOfPolicy: "/debug/ambient_pods?policy=shop/partners",
    waiting: "/debug/ambient_pods?state=waiting",
    rejected: "/debug/ambient_pods?tunnels=rejected",
    services: "/debug/ambient_services",
    closed: "/debug/ambient_services?waypoint=shop/absent",
    resources: "/debug/ambientz",
    policies: "/debug/ambientz?sort=policy",
    workloads: "/debug/ambientz?sort=workload",
    service: `/debug/endpointShardz?service=shop/${LONG}.shop.svc.cluster.local`,
    policy: "/debug/live?object=AuthorizationPolicy/shop/partners",
    waypoint: "/debug/live?object=ApiGateway/shop/gate",
    proxies: "/debug/syncz",
    summary: `/debug/config_dump?${proxy}`,
    tree: `/debug/config_dump?${proxy}&view=tree`,
    proxyPolicies: `/debug/config_dump?${proxy}&view=policies`,
    request: `/debug/config_dump?${proxy}&view=request`,
    graph: "/debug/graph?namespace=shop",
    found: "/debug/search?q=checkout",
  };
}
