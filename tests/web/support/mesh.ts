/**
 * Meshes for walks through the pages: services with routes, a policy, mistakes of all severities, proxies.
 *
 * @module
 */
import { PAGES } from "../../../lib/debug/pages.ts";
import { struct } from "../../../lib/pb/wellknown.ts";

/** A long name, as generated names are. */
const LONG = "checkout-and-payment-orchestration-backend-canary-release";

function service(at: number): string {
  const name = at === 0 ? LONG : `service-${at}`;
  return `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: shop }
spec:
  hosts: [${name}.shop.svc.cluster.local]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.1.${at >> 8}.${at & 255}, locality: region-1/zone-a }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: shop }
spec:
  hosts: [${name}.shop.svc.cluster.local]
  http:
    - route: [{ destination: { host: ${at % 7 === 3 ? "missing" : name}.shop.svc.cluster.local } }]
---
`;
}

const POLICIES = `apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: allow-frontends, namespace: shop }
spec: { selector: { matchLabels: { app: ${LONG} } }, rules: [{ from: [{ source: { namespaces: [web] } }] }] }
`;

/** What concerns the long service beside its routes. */
const TRAFFIC = `apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: ${LONG}-versions, namespace: shop }
spec:
  host: ${LONG}.shop.svc.cluster.local
  trafficPolicy: { outlierDetection: { consecutive5xxErrors: 7 }, loadBalancer: { simple: ROUND_ROBIN } }
  subsets:
    - { name: v1, labels: { app: ${LONG}, version: v1 } }
    - { name: the-release-that-comes-after-the-present-one, labels: { version: v2-experimental-with-a-long-name } }
---
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: entry-of-the-shop-for-customers-of-all-regions, namespace: shop }
spec:
  selector: { mesh: ingressgateway }
  servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["checkout.shop.example.com"] }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: ${LONG}-from-outside, namespace: shop }
spec:
  hosts: [checkout.shop.example.com]
  gateways: [entry-of-the-shop-for-customers-of-all-regions]
  http:
    - name: testers
      match: [{ headers: { x-tester-of-the-next-release: { exact: "yes" } }, uri: { prefix: /checkout/payments } }]
      route: [{ destination: { host: ${LONG}.shop.svc.cluster.local, subset: the-release-that-comes-after-the-present-one } }]
    - route:
        - { destination: { host: ${LONG}.shop.svc.cluster.local, subset: v1 }, weight: 90 }
        - { destination: { host: service-1.shop.svc.cluster.local }, weight: 10 }
---
apiVersion: security.mesh.io/v1
kind: PeerAuthentication
metadata: { name: default, namespace: shop }
spec: { mtls: { mode: PERMISSIVE } }
`;

const REFUSED = `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: refused, namespace: shop }
spec:
  hosts: [service-1.shop.svc.cluster.local]
  http: [{ timeout: 5 bananas, route: [{ destination: { host: service-1.shop.svc.cluster.local } }] }]
`;

/** The files of a mesh with some services. */
export function meshOf(services: number): Readonly<Record<string, string>> {
  const all = Array.from({ length: services }, (_, at) => service(at)).join("");
  return { "services.yaml": all, "policies.yaml": POLICIES, "traffic.yaml": TRAFFIC, "refused.yaml": REFUSED };
}

/** The proxies of such a mesh: as many as a walk needs for long lists, and few enough for a busy machine. */
export function proxiesOf(services: number): { readonly id: string; readonly metadata: object }[] {
  return Array.from({ length: Math.min(services, 60) }, (_, at) => ({
    id: `sidecar~10.1.0.${at}~${at === 0 ? POD : `service-${at}-7c9d8b6f5d-x2x${at}`}.shop~shop.svc.cluster.local`,
    metadata: struct(at === 0 ? { LABELS: { app: LONG, version: "v1" } } : {}),
  }));
}

const POD = `${LONG}-7c9d8b6f5d-x2x0`;

const OBJECT = `VirtualService/shop/${LONG}`;
const PROXY = `proxyID=${LONG}`;

/** The address of every page for people, by a short name: all pages of the list, and the pages of single things. */
export function pagesOf(): Readonly<Record<string, string>> {
  const listed = PAGES.filter(({ methods = ["GET"] }) => methods.includes("GET")).map(({ path }) =>
    [path, `/debug/${path}`] as const
  );
  const parts = ["", "resources", "tree", "policies", "request"].map((view) =>
    [`proxy-${view || "summary"}`, `/debug/config_dump?${PROXY}&view=${view}`] as const
  );
  const ofProxy = ["ecdsz", "edsz", "ndsz", "sidecarz"].map((path) =>
    [`${path}-proxy`, `/debug/${path}?${PROXY}`] as const
  );
  return {
    ...Object.fromEntries([...listed, ...parts, ...ofProxy]),
    start: "/debug",
    object: `/debug/live?object=${OBJECT}`,
    refused: "/debug/live?object=VirtualService/shop/refused",
    missing: "/debug/live?object=VirtualService/shop/nothing",
    service: `/debug/endpointShardz?service=shop/${LONG}.shop.svc.cluster.local`,
    "described-pod": `/debug/describe?pod=shop/${POD}`,
    "described-service": `/debug/describe?service=shop/${LONG}.shop.svc.cluster.local`,
    "not-described": "/debug/describe?pod=nobody.shop",
    search: "/debug/search?q=service",
    listener: `/debug/config_dump?${PROXY}&view=request&listener=0.0.0.0_80&url=http://${LONG}.shop.svc.cluster.local/`,
    request: `/debug/config_dump?${PROXY}&view=request&url=http://${LONG}.shop.svc.cluster.local/`,
    unknown: "/debug/no_such_page",
    pages: "/debug/list",
    opened: "/debug/graph?namespace=shop",
    code: "/debug/finding_codes?code=MSH0101",
    found: "/debug/problemz?code=MSH0101&severity=error",
  };
}
