/** Sidecars reach pods behind the tunnel of their node by HBONE. */
import assert from "node:assert/strict";
import { TestProxy } from "../../debug/proxy.ts";
import { until } from "../../patience.ts";
import { page, withServer } from "../running.ts";

const pod = (annotations: string) => `
apiVersion: v1
kind: Pod
metadata: { name: cart, namespace: shop, labels: { app: cart }, annotations: ${annotations} }
spec: { nodeName: n1, serviceAccountName: cart, containers: [] }
status: { phase: Running, podIP: 10.1.0.1, conditions: [{ type: Ready, status: "True" }] }
`;

const SERVICE = `
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop }
spec: { clusterIP: 10.96.0.1, selector: { app: cart }, ports: [{ name: http, port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: cart-1, namespace: shop, labels: { kubernetes.io/service-name: cart } }
addressType: IPv4
ports: [{ name: http, port: 8080 }]
endpoints: [{ addresses: [10.1.0.1], targetRef: { kind: Pod, name: cart }, conditions: { ready: true } }]
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: selecting, namespace: shop }
spec:
  hosts: [cart.example.com]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  workloadSelector: { labels: { app: cart } }
`;

/** A sidecar with an agent, which has internal listeners. */
const SIDECAR = {
  id: "sidecar~10.0.0.1~a.x~x.svc.cluster.local",
  metadata: { fields: { PROXY_CONFIG: { stringValue: "{}" } } },
};

const HOSTS = ["cart.shop.svc.cluster.local", "cart.example.com"];

Deno.test("a sidecar reaches a pod by HBONE from the annotation's `enabled` on, and not before", () =>
  withServer({ "service.yaml": SERVICE, "pod.yaml": pod("{}") }, async ({ ports }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc!, SIDECAR);
    const assignments = async () => {
      const { body } = await page(ports.http, "/debug/config_dump?proxyID=a.x&types=eds&include_eds");
      return JSON.stringify(JSON.parse(body));
    };
    const tunnelled = async () => {
      const text = await assignments();
      return HOSTS.filter((host) => new RegExp(`outbound\\|80\\|\\|${host}"[^]*?connect_originate`).test(text));
    };
    assert.doesNotMatch(await assignments(), /connect_originate/);
    await Deno.writeTextFile(`${folder}/pod.yaml`, pod("{ ambient.istio.io/redirection: enabled }"));
    await until("HBONE", async () => (await tunnelled()).length === 2);
    await Deno.writeTextFile(`${folder}/pod.yaml`, pod("{ ambient.istio.io/redirection: pending }"));
    await until("plain text again", async () => !/connect_originate/.test(await assignments()));
    assert.match(await assignments(), /10\.1\.0\.1/);
  }, {
    options: { manifestServices: true },
    settings: { PILOT_ENABLE_AMBIENT: true },
  }));
