/**
 * Real Envoys in two clusters send requests to a service in one of the clusters: by its shared name, while exported.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { requestHost } from "./support/request.ts";
import { until } from "../patience.ts";

const path = envoyPath();

/** A service of the server's cluster, imported at an address, behind a gateway per cluster. */
const files = (app: number, home: number, away: number) => ({
  "service.yaml": `
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: demo }
spec: { clusterIP: 10.96.0.9, clusterIPs: [10.96.0.9], ports: [{ name: http, port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: cart-1, namespace: demo, labels: { kubernetes.io/service-name: cart } }
addressType: IPv4
ports: [{ name: http, port: ${app}, protocol: TCP }]
endpoints: [{ addresses: [127.0.0.1], conditions: { ready: true } }]
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: { name: cart, namespace: demo }
spec: { type: ClusterSetIP, ips: [241.0.0.1], ports: [{ port: 80, protocol: TCP }] }
`,
  "routes.yaml": `
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: cart, namespace: demo }
spec:
  hosts: [shared.test]
  gateways: [home, away]
  http: [{ route: [{ destination: { host: cart.demo.svc.clusterset.local } }] }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: own, namespace: demo }
spec:
  hosts: [own.test]
  gateways: [home, away]
  http: [{ route: [{ destination: { host: cart.demo.svc.cluster.local } }] }]
${door("home", home)}${door("away", away)}`,
});

function door(name: string, port: number): string {
  return `---
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: demo }
spec:
  selector: { app: ${name} }
  servers: [{ port: { number: ${port}, name: http, protocol: HTTP }, hosts: ["*"] }]
`;
}

const EXPORT = `
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: { name: cart, namespace: demo }
`;

/** The result of a request for a host at a gateway. */
async function ask(port: number, host: string): Promise<string> {
  const response = await requestHost(port, host);
  if (typeof response === "string") return "closed";
  return response.status === 200 ? response.body : String(response.status);
}

for (const clusterLocal of [false, true]) {
  const own = clusterLocal ? "never" : "while it is exported";
  Deno.test({
    name:
      `ENABLE_MCS_CLUSTER_LOCAL=${clusterLocal}: another cluster's Envoy reaches the service by its shared name while it is exported, by its own name ${own}`,
    ignore: path === undefined,
    fn: () =>
      withPorts(2, async ([home = 0, away = 0]) => {
        await using app = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("cart"));
        await using mesh = await TestMesh.start({
          files: files(app.addr.port, home, away),
          manifestServices: true,
          settings: {
            ...{ ENABLE_MCS_SERVICE_DISCOVERY: true, ENABLE_MCS_HOST: true },
            ENABLE_MCS_CLUSTER_LOCAL: clusterLocal,
          },
        });
        const identity = { type: "router", namespace: "demo", address: "127.0.0.1" } as const;
        for (const [name, port, cluster] of [["home", home, "Orch"], ["away", away, "west"]] as const) {
          const metadata = { CLUSTER_ID: cluster };
          const envoy = await mesh.attach(path!, { ...identity, name, labels: { app: name }, metadata }, true);
          await envoy.ready(port);
        }
        await mesh.settled();
        const answers = async () =>
          (await Promise.all([
            ...[ask(home, "shared.test"), ask(away, "shared.test")],
            ...[ask(home, "own.test"), ask(away, "own.test")],
          ])).join(" ");
        assert.equal(await answers(), "cart 503 cart 503", "nothing is exported");
        await mesh.write("export.yaml", EXPORT);
        const shared = `cart cart cart ${clusterLocal ? "503" : "cart"}`;
        await until("the export", async () => await answers() === shared);
        await mesh.write("export.yaml");
        await until("the end of the export", async () => await answers() === "cart 503 cart 503");
        await mesh.settled();
      }),
  });
}
