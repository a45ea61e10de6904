/**
 * Versions of objects for random worlds: several of each key, so that a change moves labels, selectors, ports, nodes,
 * waypoints and policies.
 *
 * @module
 */
import { objectsOf, type WorldObject } from "./world.ts";

const namespace = (name: string, labels: string) =>
  `{ apiVersion: v1, kind: Namespace, metadata: { name: ${name}, labels: ${labels} } }`;

const node = (labels: string) => `{ apiVersion: v1, kind: Node, metadata: { name: n1, labels: ${labels} } }`;

const pod = (name: string, labels: string, more = "", annotations = "{}") => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: a, labels: ${labels}, annotations: ${annotations} }
spec: { nodeName: n1, containers: [{ name: app, ports: [{ name: web, containerPort: 8080 }] }] }
status: { phase: Running, podIP: 10.0.0.${name.slice(1)}, conditions: [{ type: Ready, status: "True" }]${more} }`;

const service = (name: string, spec: string, labels = "{}") => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: a, labels: ${labels} }
spec: { clusterIP: 10.96.0.1, ${spec} }`;

const slice = (of: string, endpoints: string) => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: slice, namespace: a, labels: { kubernetes.io/service-name: ${of} } }
addressType: IPv4
ports: [{ name: http, port: 8080 }]
endpoints: ${endpoints}`;

const entry = (name: string, spec: string, labels = "{}") => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: a, labels: ${labels} }
spec: { ports: [{ number: 80, name: http, protocol: HTTP }], ${spec} }`;

const workloadEntry = (spec: string) => `
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: w1, namespace: a }
spec: ${spec}`;

const gateway = (status: string, labels = "{}", routes = "{}") => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: way, namespace: a, labels: ${labels} }
spec:
  gatewayClassName: istio-waypoint
  listeners: [{ name: mesh, port: 15008, protocol: HBONE, allowedRoutes: { namespaces: ${routes} } }]
status: ${status}`;

const READY = "{ addresses: [{ type: Hostname, value: way.a.svc.cluster.local }] }";

const gatewayClass = (labels: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: istio-waypoint, labels: ${labels} }
spec: { controllerName: istio.io/mesh-controller }`;

const policy = (target: string, action = "ALLOW", namespace = "a") => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: p, namespace: ${namespace} }
spec: { targetRefs: [${target}], action: ${action}, rules: [{}] }`;

const selecting = (name: string, spec: string, namespace = "a") => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: ${namespace} }
spec: ${spec}`;

const peer = (namespace: string, spec: string) => `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: peer, namespace: ${namespace} }
spec: ${spec}`;

const HTTP = "ports: [{ name: http, port: 80, targetPort: web }]";
const LABELLED = "{ istio.io/use-waypoint: way }";

const TEXTS: readonly string[] = [
  namespace("a", "{}"),
  namespace("a", "{ istio.io/use-waypoint: way }"),
  namespace("a", "{ istio.io/use-waypoint: way, team: x }"),
  namespace("mesh-system", "{ topology.istio.io/network: east }"),
  namespace("mesh-system", "{}"),
  node("{ topology.kubernetes.io/region: r1 }"),
  node("{ topology.kubernetes.io/region: r2, topology.kubernetes.io/zone: z }"),
  pod("p1", "{ app: x }"),
  pod("p1", "{ app: y }", "", "{ ambient.istio.io/redirection: enabled }"),
  pod("p1", "{ app: x, istio.io/use-waypoint: none }", ", podIPs: [{ ip: 10.0.0.1 }, { ip: 'fd00::1' }]"),
  pod("p2", "{ app: y }"),
  pod("p2", "{ app: x, networking.istio.io/tunnel: http }"),
  pod("p2", LABELLED),
  service("s1", `selector: { app: x }, ${HTTP}`),
  service("s1", `selector: { app: y }, ${HTTP}`, LABELLED),
  service("s1", "ports: [{ name: http, port: 80 }]"),
  service("s1", "selector: { app: x }, type: ExternalName, externalName: example.com, ports: [{ port: 80 }]"),
  service("s2", `selector: { app: x }, trafficDistribution: PreferClose, ${HTTP}`),
  slice("s1", "[{ addresses: [10.0.0.1], targetRef: { kind: Pod, name: p1 } }]"),
  slice(
    "s1",
    "[{ addresses: [10.0.0.2], targetRef: { kind: Pod, name: p2 } }, { addresses: [10.9.0.1], nodeName: n1 }]",
  ),
  slice("s2", "[{ addresses: [10.9.0.1] }]"),
  entry("e1", "hosts: [e.example.com], resolution: STATIC, workloadSelector: { labels: { app: x } }"),
  entry("e1", "hosts: [e.example.com, s1.a.svc.cluster.local], resolution: STATIC, endpoints: [{ address: 10.8.0.1 }]"),
  entry("e1", "hosts: [f.example.com], resolution: DNS", LABELLED),
  entry("e2", "hosts: [e.example.com], addresses: [240.0.0.1], resolution: NONE", LABELLED),
  workloadEntry("{ address: 10.7.0.1, labels: { app: x } }"),
  workloadEntry("{ address: 10.7.0.2, labels: { app: y }, ports: { http: 81 } }"),
  gateway("{}"),
  gateway(READY),
  gateway(READY, "{ istio.io/waypoint-for: all }"),
  gateway(READY, "{}", "{ from: Selector, selector: { matchLabels: { team: x } } }"),
  gatewayClass("{}"),
  gatewayClass("{ istio.io/waypoint-for: workload }"),
  policy("{ kind: Service, name: s1 }"),
  policy("{ kind: Gateway, group: gateway.networking.k8s.io, name: way }"),
  policy("{ kind: ServiceEntry, group: networking.istio.io, name: e2 }", "DENY"),
  policy("{ kind: GatewayClass, group: gateway.networking.k8s.io, name: istio-waypoint }", "DENY", "mesh-system"),
  selecting("q", "{ action: DENY, selector: { matchLabels: { app: x } }, rules: [{}] }"),
  selecting("q", "{ selector: { matchLabels: { app: y } }, rules: [{ to: [{ operation: { ports: ['80'] } }] }] }"),
  selecting("q", "{ action: DENY, rules: [{}] }"),
  selecting("q", "{ action: DENY, selector: { matchLabels: { app: x } }, rules: [{}] }", "mesh-system"),
  peer("a", "{ mtls: { mode: STRICT } }"),
  peer(
    "a",
    "{ selector: { matchLabels: { app: x } }, mtls: { mode: STRICT }, portLevelMtls: { 80: { mode: PERMISSIVE } } }",
  ),
  peer("mesh-system", "{ mtls: { mode: STRICT } }"),
];

/** The versions. */
export const VARIANTS: readonly WorldObject[] = objectsOf(TEXTS.join("\n---\n"));
