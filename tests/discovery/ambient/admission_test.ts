/** PILOT_AUTO_ALLOW_WAYPOINT_POLICY at a running server, judged by what a tunnel has got. */
import assert from "node:assert/strict";
import type { TunnelWorkload } from "../../../lib/simulate/tunnel/addresses.ts";
import { connectByTunnel } from "../../../lib/simulate/tunnel/connect.ts";
import { withServer } from "../running.ts";
import { TunnelClient } from "./tunnel_client.ts";

const pod = (name: string, address: string, labels = `app: ${name}`) => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, labels: { ${labels} }, annotations: { ambient.istio.io/redirection: enabled } }
spec: { nodeName: n1, serviceAccountName: ${name}, containers: [] }
status: { phase: Running, podIP: ${address}, conditions: [{ type: Ready, status: "True" }] }
`;
const service = (name: string, address: string, labels: string, port: number, selector = `app: ${name}`) => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop, labels: { ${labels} } }
spec: { clusterIP: ${address}, selector: { ${selector} }, ports: [{ name: tcp, port: ${port} }] }
`;
const OF_GATE = "gateway.networking.k8s.io/gateway-name: gate, gateway.istio.io/managed: istio.io-mesh-controller";
const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop }
spec: { gatewayClassName: istio-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
status: { addresses: [{ type: IPAddress, value: 10.96.0.9 }] }
`;
const FILES = {
  "pods.yaml": [pod("web", "10.1.0.1"), pod("cart", "10.1.0.2"), pod("gate", "10.1.0.9", OF_GATE)].join("---"),
  "services.yaml": [
    service("cart", "10.96.0.1", "istio.io/use-waypoint: gate", 80),
    service(
      "gate",
      "10.96.0.9",
      "gateway.istio.io/managed: istio.io-mesh-controller",
      15008,
      "gateway.networking.k8s.io/gateway-name: gate",
    ),
    GATEWAY,
  ].join("---"),
};

for (const admits of [false, true]) {
  const title = admits ? "admits the waypoint and nobody else" : "has no policy, and accepts everybody";
  Deno.test(`with PILOT_AUTO_ALLOW_WAYPOINT_POLICY=${admits} a workload behind a waypoint ${title}`, () =>
    withServer(FILES, async (server) => {
      using tunnel = new TunnelClient(server.ports.grpc!);
      await tunnel.until(() => tunnel.isReady && tunnel.addresses.size === 5, "the whole mesh");
      const { addresses, policies } = tunnel.held.state;
      assert.deepEqual([...policies.keys()], admits ? ["shop/istio_allow_waypoint_shop_gate"] : []);
      const from = (name: string) => addresses.workload(`Kubernetes//Pod/shop/${name}`) as TunnelWorkload;
      const connect = (ip: string, port: number) => connectByTunnel(from("web"), { ip, port }, { addresses, policies });
      const { route, behind } = connect("10.96.0.1", 80);
      assert.equal(route.to === "hops" && route.waypoint, "10.96.0.9");
      assert.deepEqual(behind.map(({ verdict }) => verdict?.accepted), [true], "through the waypoint");
      const around = connect("10.1.0.2", 80).hops.map(({ verdict }) => verdict?.accepted);
      assert.deepEqual(around, [!admits], "around the waypoint");
    }, {
      options: { clusterId: "Kubernetes", manifestServices: true },
      settings: { PILOT_ENABLE_AMBIENT: true, XDS_AUTH: false, PILOT_AUTO_ALLOW_WAYPOINT_POLICY: admits },
    }));
}
