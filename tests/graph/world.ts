/**
 * A small mesh of texts, and its graph as lines, for tests.
 *
 * @module
 */
import { edgeResult } from "../../lib/debug/graph.ts";
import { serviceGraph } from "../../lib/graph/service_graph.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { meshOf } from "../offline/mesh_of.ts";

/** A service of a namespace with one workload. */
export function service(name: string, namespace: string, more = ""): string {
  return `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  hosts: [${name}.${namespace}]
  location: MESH_INTERNAL
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.${name.length}, serviceAccount: ${name}, labels: { app: ${name} } }]
${more}`;
}

/** An AuthorizationPolicy for the workloads of a service, or of a namespace. */
export function policy(name: string, namespace: string, spec: string, app = "", annotations = "{}"): string {
  const selector = app === "" ? "" : `selector: { matchLabels: { app: ${app} } }, `;
  return `apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: ${namespace}, annotations: ${annotations} }
spec: { ${selector}${spec} }
`;
}

/** An object of a networking or security kind. */
export function object(kind: string, name: string, namespace: string, spec: string): string {
  const group = kind === "PeerAuthentication" ? "security" : "networking";
  return `apiVersion: ${group}.mesh.io/v1
kind: ${kind}
metadata: { name: ${name}, namespace: ${namespace} }
spec: ${spec}
`;
}

/** A shop with a front and two services behind it, and payments that only the checkout may call. */
export const SHOP: readonly string[] = [
  service("ingress", "edge"),
  service("front", "shop"),
  service("checkout", "shop"),
  service("reviews", "shop"),
  service("payments", "bank"),
  service("ledger", "bank", "  exportTo: [.]\n"),
  object(
    "Gateway",
    "public",
    "edge",
    `{ selector: { app: ingress }, servers: [{ hosts: ["*"], port: { number: 80, name: http, protocol: HTTP } }] }`,
  ),
  object(
    "VirtualService",
    "front",
    "edge",
    `{ hosts: [shop.example.com], gateways: [public], http: [{ route: [{ destination: { host: front.shop } }] }] }`,
  ),
  object(
    "VirtualService",
    "reviews",
    "shop",
    `{ hosts: [reviews.shop], http: [{ route: [{ destination: { host: reviews.shop, subset: v1 }, weight: 90 }, { destination: { host: reviews.shop, subset: v2 }, weight: 10 }] }] }`,
  ),
  object("PeerAuthentication", "strict", "bank", "{ mtls: { mode: STRICT } }"),
  policy(
    "payments",
    "bank",
    "rules: [{ from: [{ source: { principals: [cluster.local/ns/shop/sa/checkout] } }], to: [{ operation: { methods: [POST] } }] }]",
    "payments",
  ),
  policy("ledger", "bank", "rules: [{ from: [{ source: { serviceAccounts: [payments] } }] }]", "ledger"),
  policy("checkout", "shop", "rules: [{ from: [{ source: { namespaces: [shop] } }] }]", "checkout"),
];

/** The edges of the graph, a line each: `call from -> to: result if conditions; shares; but`. */
export function edgesOf(texts: readonly string[], opened?: string): string[] {
  const settings = defaultSettings("pilot-discovery", { PILOT_ENABLE_AMBIENT_WAYPOINTS: true });
  const { store, pipeline } = meshOf({ "mesh.yaml": texts.join("---\n") }, { settings });
  const sources = { mesh: pipeline.translator.mesh, gateways: store.list("Gateway") };
  return serviceGraph(sources, opened).edges.map((edge) => {
    const { kind, from, to, conditions, shares, except } = edge;
    const more = [
      conditions && `if ${conditions.join(", ")}`,
      shares?.join(", "),
      except && `but ${except.join(", ")}`,
    ];
    return [`${kind} ${from} -> ${to}: ${edgeResult(edge)}`, ...more.filter((one) => one !== undefined)].join("; ");
  });
}
