/** The page of node tunnels' resources, for programs and for people. */
import assert from "node:assert/strict";
import { page, withServer } from "../discovery/running.ts";

const WORLD = `
apiVersion: v1
kind: Pod
metadata: { name: cart, namespace: shop, labels: { app: cart }, annotations: { ambient.istio.io/redirection: enabled } }
spec: { nodeName: n1, serviceAccountName: cart, containers: [] }
status: { phase: Running, podIP: 10.1.0.1, conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop }
spec: { clusterIP: 10.96.0.1, selector: { app: cart }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: vm, namespace: bank }
spec: { address: 10.2.0.1, weight: 3 }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: p, namespace: shop }
spec: { action: DENY, selector: { matchLabels: { app: cart } }, rules: [{ to: [{ operation: { ports: ["81"] } }] }] }
`;

const IP = (...bytes: number[]) => Uint8Array.from(bytes).toBase64();

const options = { clusterId: "Kubernetes", manifestServices: true };

Deno.test("ambientz has workloads, services and policies in the fields of Istio's page", () =>
  withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    const { body } = await page(ports.http, "/debug/ambientz");
    assert.deepEqual(JSON.parse(body), {
      workloads: [
        {
          name: "cart",
          namespace: "shop",
          addresses: [IP(10, 1, 0, 1)],
          tunnelProtocol: "HBONE",
          serviceAccount: "cart",
          node: "n1",
          canonicalName: "cart",
          canonicalRevision: "latest",
          workloadType: "POD",
          workloadName: "cart",
          authorizationPolicies: ["shop/p"],
          clusterId: "Kubernetes",
          uid: "Kubernetes//Pod/shop/cart",
          services: { "shop/cart.shop.svc.cluster.local": { ports: [{ servicePort: 80, targetPort: 8080 }] } },
        },
        {
          name: "vm",
          namespace: "bank",
          addresses: [IP(10, 2, 0, 1)],
          canonicalName: "vm",
          canonicalRevision: "latest",
          workloadType: "POD",
          workloadName: "vm",
          clusterId: "Kubernetes",
          uid: "Kubernetes/networking.istio.io/WorkloadEntry/bank/vm",
          capacity: 3,
        },
      ],
      services: [{
        name: "cart",
        namespace: "shop",
        hostname: "cart.shop.svc.cluster.local",
        addresses: [{ address: IP(10, 96, 0, 1) }],
        ports: [{ servicePort: 80, targetPort: 8080 }],
        ipFamilies: "IPV4_ONLY",
      }],
      policies: [{
        name: "p",
        namespace: "shop",
        scope: "WORKLOAD_SELECTOR",
        action: "DENY",
        groups: [{ rules: [{ matches: [{ destinationPorts: [81] }] }] }],
      }],
    });
    const ofBank = JSON.parse((await page(ports.http, "/debug/ambientz?namespace=bank")).body);
    assert.deepEqual([ofBank.workloads.length, ofBank.services, ofBank.policies], [1, [], []]);
    const response = await fetch(`http://127.0.0.1:${ports.http}/debug/ambientz`, { headers: { accept: "text/html" } });
    const html = (await response.text()).replaceAll("<wbr>", "");
    for (const text of ["Kubernetes//Pod/shop/cart", "HBONE", "10.96.0.1", "WorkloadEntry/bank/vm", "shop/p"]) {
      assert.ok(html.includes(text), text);
    }
  }, { options, settings: { PILOT_ENABLE_AMBIENT: true } }));

const NETWORKS = `
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: far, namespace: bank }
spec: { address: 10.2.0.1, network: west }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: west, namespace: doors, labels: { topology.istio.io/network: west } }
spec:
  gatewayClassName: istio-remote
  addresses: [{ type: IPAddress, value: 192.0.2.9 }]
  listeners: [{ name: mesh, port: 15008, protocol: HBONE }]
`;

Deno.test("ambientz has the gateways into other networks in the namespaces of their Gateways, and who is behind them", () =>
  withServer({ "networks.yaml": NETWORKS }, async ({ ports }) => {
    const of = async (namespace: string) =>
      JSON.parse((await page(ports.http, `/debug/ambientz?namespace=${namespace}`)).body).workloads;
    const [gateway, ...others] = await of("doors");
    assert.deepEqual(others, []);
    assert.deepEqual([gateway.uid, gateway.network], ["NetworkGateway/west/192.0.2.9/15008", "west"]);
    const [far] = await of("bank");
    assert.deepEqual(far.networkGateway, {
      address: { network: "west", address: IP(192, 0, 2, 9) },
      hboneMtlsPort: 15008,
    });
    const response = await fetch(`http://127.0.0.1:${ports.http}/debug/ambientz`, { headers: { accept: "text/html" } });
    const html = (await response.text()).replaceAll("<wbr>", "");
    for (const text of ["HBONE by gateway 192.0.2.9", "west"]) assert.ok(html.includes(text), text);
  }, { options, settings: { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: true } }));

Deno.test("without ambient mode ambientz is empty", () =>
  withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    const { body } = await page(ports.http, "/debug/ambientz");
    assert.deepEqual(JSON.parse(body), { workloads: [], services: [], policies: [] });
  }, { options }));
