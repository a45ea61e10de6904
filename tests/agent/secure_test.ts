import assert from "node:assert/strict";
import { orderCertificate } from "../../lib/agent/secrets/issued_certificate.ts";
import { withPorts } from "../../scripts/ports.ts";
import { gateway } from "../e2e/support/door.ts";
import { requestHost } from "../e2e/support/request.ts";
import { envoyPath } from "../envoy/path.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { TestAuthority } from "./support/authority.ts";
import { startSecureDiscovery } from "./support/secure_discovery.ts";
import { until } from "../patience.ts";

Deno.test({
  name: "a machine with a certificate is served over TLS by that, as the node that it is, and as another one not",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(8, async ([door = 0, admin = 0, status = 0, readiness = 0, metrics = 0, ...ports]) => {
      const authority = await TestAuthority.make();
      await using certificates = await authority.listen("meshd.test");
      const folder = await Deno.makeTempDir();
      await Deno.mkdir(`${folder}/config`);
      await Deno.writeTextFile(`${folder}/config/door.yaml`, gateway(door));
      const own = await orderCertificate({
        uri: "spiffe://cluster.local/ns/demo/sa/door",
        key: { type: "EC", curve: "P-256" },
        ...{ ttl: 3_600_000, pkcs8: true, now: () => Date.now() },
      }, (csr, ttl) => authority.sign(csr, ttl));
      const start = (serviceAccount: string) =>
        AgentProcess.start({
          args: ["router"],
          files: {
            "etc/mesh/pod/labels": 'app="door"\n',
            "prov/cert-chain.pem": own.chain,
            "prov/key.pem": own.key,
            "prov/root-cert.pem": authority.root,
          },
          env: {
            ...{ POD_NAME: "door-1", POD_NAMESPACE: "demo", INSTANCE_IP: "127.0.0.1" },
            ...{ SERVICE_ACCOUNT: serviceAccount, PROV_CERT: "./prov", MESHD_SAN: "meshd.test" },
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
      try {
        await using _discovery = await startSecureDiscovery(folder, authority, ports);
        {
          await using other = await start("somebody");
          await until("it is refused", () => /no discovery server: .*somebody/.test(other.output));
        }
        await using agent = await start("door");
        await until("the gateway listens", async () => {
          const response = await requestHost(door, "nobody.test");
          return typeof response !== "string" && response.status === 404;
        });
        assert.doesNotMatch(agent.output, /NotCapable/);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
