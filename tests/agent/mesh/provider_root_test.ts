/** Certificates of an outside provider (`PILOT_CERT_PROVIDER=custom`), from the server's file to a real Envoy. */
import assert from "node:assert/strict";
import { writeCertificates } from "../../../lib/pki/certificate.ts";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { startServer } from "../../../scripts/demo/server.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { makeLeaf, makeRoot, P256 } from "../../pki/support/make.ts";
import { envoyPath } from "../../envoy/path.ts";
import { AgentProcess } from "../support/agent_process.ts";
import { TestAuthority } from "../support/authority.ts";
import { askAs, strictWorkload } from "../support/mutual_client.ts";
import { until } from "../../patience.ts";

const CALLER = "spiffe://cluster.local/ns/shop/sa/cart";

/** A root of the provider, and the caller's certificate by the root. */
async function provider(name: string) {
  const root = await makeRoot(P256, { notAfter: Date.now() + 1e9, name });
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const { certificate, key } = await makeLeaf(root, P256, { ...times, uris: [CALLER] });
  const own = { certificate: writeCertificates([certificate]), key: key.pem() };
  return { root: writeCertificates([root.certificate]), own };
}

/** A server without an authority and without TLS. The server reads the provider's root in its folder. */
async function serverWith(files: Readonly<Record<string, string>>) {
  const folder = await Deno.makeTempDir();
  const write = async (path: string, text: string) => {
    await Deno.writeTextFile(`${folder}/new`, text);
    await Deno.rename(`${folder}/new`, `${folder}/${path}`);
  };
  for (const path of ["config", "etc/certs"]) await Deno.mkdir(`${folder}/${path}`, { recursive: true });
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const env = { PILOT_CERT_PROVIDER: "custom", ENABLE_CA_SERVER: "false", PILOT_DEBOUNCE_AFTER: "10ms" };
  const server = await startServer(`${folder}/config`, { cwd: folder, securePort: 0, env });
  return {
    port: server.grpcPort,
    write,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test({
  name:
    "agents hear of the provider's root, by which their Envoys let its workloads in; when the file changes, those of the new root are let in, and of the old one no more",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(5, async ([there = 0, admin = 0, status = 0, readiness = 0, metrics = 0]) => {
      const [first, second] = [await provider("first"), await provider("second")];
      const authority = await TestAuthority.make();
      await using certificates = await authority.listen("ca.test");
      await using app = callerEcho();
      await using server = await serverWith({
        "config/world.yaml": strictWorkload(app.port, there),
        "etc/certs/root-cert.pem": first.root,
      });
      await using agent = await AgentProcess.start({
        files: {
          "etc/mesh/pod/labels": 'instance="server"\n',
          "var/run/secrets/mesh/root-cert.pem": authority.root,
          "var/run/secrets/tokens/mesh-token": "the-token\n",
        },
        env: {
          ...{ POD_NAME: "server-1", POD_NAMESPACE: "demo", SERVICE_ACCOUNT: "server", INSTANCE_IP: "127.0.0.1" },
          ...{ CA_ADDR: `127.0.0.1:${certificates.port}`, MESHD_SAN: "ca.test", ECC_SIGNATURE_ALGORITHM: "ECDSA" },
          ...{ PROXY_CONFIG_XDS_AGENT: "true", PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}` },
          PROXY_CONFIG: JSON.stringify({
            ...{ binaryPath: "envoy", discoveryAddress: `127.0.0.1:${server.port}`, interceptionMode: "NONE" },
            ...{ controlPlaneAuthPolicy: "NONE", proxyAdminPort: admin, statusPort: status, concurrency: 1 },
          }),
        },
      });
      try {
        await until("the first provider's is let in", async () => await askAs(there, first.own) === CALLER);
        assert.equal(await askAs(there, second.own), "refused");
        await server.write("etc/certs/root-cert.pem", "no certificate\n");
        await server.write("etc/certs/root-cert.pem", second.root);
        await until("the second provider's is let in", async () => await askAs(there, second.own) === CALLER);
        await until("the first provider's is refused", async () => await askAs(there, first.own) === "refused");
      } catch (error) {
        throw new Error(agent.output, { cause: error });
      }
    }),
});
