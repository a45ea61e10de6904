/** Gateways into other networks at a running server, judged by what a tunnel has got. */
import assert from "node:assert/strict";
import { withServer } from "../running.ts";
import { TunnelClient } from "./tunnel_client.ts";

const ENTRY = `
apiVersion: v1
kind: Namespace
metadata: { name: mesh-system, labels: { topology.istio.io/network: east } }
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: db, namespace: shop }
spec:
  hosts: [db.example]
  addresses: [240.0.0.1]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.1.0.1, network: west, serviceAccount: db }]
`;

const gateway = (address: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: west
  namespace: mesh-system
  labels: { topology.istio.io/network: west }
  annotations: { gateway.istio.io/service-account: east-west }
spec:
  gatewayClassName: istio-remote
  addresses: [{ type: IPAddress, value: ${address} }]
  listeners: [{ name: mesh, port: 15008, protocol: HBONE }]
`;

const WORKLOAD = "Kubernetes/networking.istio.io/ServiceEntry/shop/db/10.1.0.1";
const named = (address: string) => `NetworkGateway/west/${address}/15008`;

for (const isOn of [true, false]) {
  const title = isOn ? "the workloads behind it and the gateway itself" : "neither";
  Deno.test(`AMBIENT_ENABLE_MULTI_NETWORK=${isOn}: a Gateway into another network changes ${title}`, () =>
    withServer({ "entry.yaml": ENTRY, "gateway.yaml": gateway("192.0.2.9") }, async ({ ports }, folder) => {
      using tunnel = new TunnelClient(ports.grpc!);
      await tunnel.until(() => tunnel.isReady && tunnel.addresses.has(WORKLOAD), "the workload");
      const gatewayOf = () =>
        tunnel.addresses.get(WORKLOAD)!.message.workload?.network_gateway?.address?.address?.join(".");
      const account = () => tunnel.addresses.get(named("192.0.2.9"))?.message.workload?.service_account;
      const sans = () => tunnel.addresses.get("shop/db.example")?.message.service?.subject_alt_names;
      if (!isOn) return void assert.deepEqual([gatewayOf(), account(), sans()], [undefined, undefined, undefined]);
      assert.deepEqual(gatewayOf(), "192.0.2.9");
      assert.equal(account(), "east-west");
      assert.deepEqual(sans(), ["spiffe://cluster.local/ns/shop/sa/db"]);

      await Deno.writeTextFile(`${folder}/gateway.yaml`, gateway("192.0.2.10"));
      await tunnel.until(() => tunnel.addresses.has(named("192.0.2.10")), "the other address");
      assert.deepEqual(gatewayOf(), "192.0.2.10");
      await Deno.remove(`${folder}/gateway.yaml`);
      await tunnel.until(() => !tunnel.addresses.has(named("192.0.2.10")), "the end of the gateway");
      assert.equal(gatewayOf(), undefined, "the tunnel refuses the workload now");
      assert.equal(sans(), undefined);
    }, {
      options: { clusterId: "Kubernetes", manifestServices: true },
      settings: { PILOT_ENABLE_AMBIENT: true, XDS_AUTH: false, AMBIENT_ENABLE_MULTI_NETWORK: isOn },
    }));
}

Deno.test("a tunnel that asks for single addresses gets the gateways, which it never asks for", () =>
  withServer({ "entry.yaml": ENTRY, "gateway.yaml": gateway("192.0.2.9") }, async ({ ports }) => {
    using tunnel = new TunnelClient(ports.grpc!, { onDemand: true });
    await tunnel.until(() => tunnel.addresses.has(named("192.0.2.9")), "the gateway");
    assert.deepEqual([...tunnel.addresses.keys()], [named("192.0.2.9")]);
  }, {
    options: { clusterId: "Kubernetes", manifestServices: true },
    settings: { PILOT_ENABLE_AMBIENT: true, XDS_AUTH: false, AMBIENT_ENABLE_MULTI_NETWORK: true },
  }));
