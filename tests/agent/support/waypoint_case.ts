/**
 * The test of an agent's waypoint, in a separate network: see `waypoint_test.ts`.
 *
 * Permissions: run (deno, envoy), net (loopback), read, write (temporary folders), env.
 *
 * @module
 */
import { orderCertificate } from "../../../lib/agent/secrets/issued_certificate.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { askByHbone } from "../../e2e/support/hbone_client.ts";
import { until } from "../../patience.ts";
import { AgentProcess } from "./agent_process.ts";
import { TestAuthority } from "./authority.ts";
import { startSecureDiscovery } from "./secure_discovery.ts";

const SERVICE = "10.96.0.10", SERVER = "127.0.0.9";

/** A Gateway, and a service behind it whose only workload is at a port of {@linkcode SERVER}. */
function objects(port: number): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec: { gatewayClassName: istio-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: web, namespace: demo, labels: { istio.io/use-waypoint: door } }
spec:
  hosts: [web.test]
  addresses: [${SERVICE}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP, targetPort: ${port} }]
  endpoints: [{ address: ${SERVER} }]
`;
}

Deno.test("an agent with the role waypoint takes HBONE for the services of its Gateway", () =>
  withPorts(7, async ([admin = 0, status = 0, readiness = 0, metrics = 0, ...ports]) => {
    const authority = await TestAuthority.make();
    await using certificates = await authority.listen("meshd.test");
    const folder = await Deno.makeTempDir();
    await Deno.mkdir(`${folder}/config`);
    await using server = Deno.serve({ hostname: SERVER, port: 0, onListen() {} }, () => new Response("behind"));
    await Deno.writeTextFile(`${folder}/config/objects.yaml`, objects(server.addr.port));
    const order = (account: string) =>
      orderCertificate({
        uri: `spiffe://cluster.local/ns/demo/sa/${account}`,
        key: { type: "EC", curve: "P-256" },
        ...{ ttl: 3_600_000, pkcs8: true, now: () => Date.now() },
      }, (csr, ttl) => authority.sign(csr, ttl));
    const [own, client] = [await order("door"), await order("friend")];
    try {
      await using _discovery = await startSecureDiscovery(folder, authority, ports, {
        PILOT_ENABLE_AMBIENT: "true",
      });
      await using _agent = await AgentProcess.start({
        args: ["waypoint"],
        files: {
          "etc/mesh/pod/labels": 'gateway.networking.k8s.io/gateway-name="door"\n',
          "prov/cert-chain.pem": own.chain,
          "prov/key.pem": own.key,
          "prov/root-cert.pem": authority.root,
        },
        env: {
          ...{ POD_NAME: "door-1", POD_NAMESPACE: "demo", INSTANCE_IP: "127.0.0.1" },
          ...{ SERVICE_ACCOUNT: "door", PROV_CERT: "./prov", MESHD_SAN: "meshd.test" },
          CA_ADDR: `127.0.0.1:${certificates.port}`,
          ECC_SIGNATURE_ALGORITHM: "ECDSA",
          PROXY_STATUS_PORT: String(readiness),
          PROXY_METRICS_PORT: String(metrics),
          PROXY_CONFIG: JSON.stringify({
            ...{ binaryPath: "envoy", discoveryAddress: `127.0.0.1:${ports[0]}`, terminationDrainDuration: "0.1s" },
            ...{ proxyAdminPort: admin, statusPort: status, concurrency: 1 },
          }),
        },
      });
      const who = { cert: client.chain, key: client.key };
      await until("an answer from behind the waypoint", async () => {
        const request = "GET / HTTP/1.1\r\nHost: web.test\r\n\r\n";
        const { connected, text } = await askByHbone({ to: `${SERVICE}:80`, ...who }, request);
        return connected === 200 && /^HTTP\/1.1 200/.test(text);
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }));
