/** Certificates of the authority and on the wire, as openssl judges them. */
import assert from "node:assert/strict";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { oneRequest } from "../../../scripts/demo/load.ts";
import { peersFile, sidecarFile } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { openssl } from "../../certificates.ts";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { envoyPath } from "../../envoy/path.ts";
import { until } from "../../patience.ts";

/** Runs openssl in a folder. @returns both outputs as one text */
async function run(cwd: string, ...args: string[]): Promise<{ readonly ok: boolean; readonly text: string }> {
  const { success, stdout, stderr } = await new Deno.Command("openssl", {
    args,
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  return { ok: success, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

/** Kinds of keys made by agents, by the agents' variables. */
const KEYS = [
  { name: "client", env: { ECC_SIGNATURE_ALGORITHM: "" }, text: /RSA Public-Key|Public-Key: \(2048 bit\)/ },
  { name: "server", env: { ECC_SIGNATURE_ALGORITHM: "ECDSA", ECC_CURVE: "P384" }, text: /NIST CURVE: P-384/ },
] as const;

Deno.test({
  name:
    "openssl verifies the chains, names, usages and lifetimes of RSA and ECDSA workloads, the server's own certificate, and both ends of a connection between workloads",
  ignore: envoyPath() === undefined || !openssl,
  fn: () =>
    withPorts(10, async ([port = 0, there = 0, ...ports]) => {
      await using app = callerEcho();
      await using mesh = await IdentityMesh.start({
        port,
        files: {
          "sidecar.yaml": sidecarFile({ name: "server", port: there, application: app.port }),
          "peers.yaml": peersFile("PERMISSIVE"),
        },
      });
      try {
        const agents = await Promise.all(KEYS.map(({ name, env }, i) =>
          mesh.agent({
            ...{ name, ports: ports.slice(4 * i, 4 * i + 4) },
            env: { ...env, OUTPUT_CERTS: "./certs", SECRET_TTL: "1h" },
          })
        ));
        await until("both have certificates", () => agents.every(({ output }) => output.includes("valid until")));
        await until("the server's Envoy serves", async () => await oneRequest(there, "app.test") === "nobody");
        for (const [i, { name, text }] of KEYS.entries()) {
          const at = `${agents[i]!.folder}/certs`;
          for (const purpose of ["sslclient", "sslserver"]) {
            const args = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", "root-cert.pem"];
            const { ok, text } = await run(at, ...args, "-untrusted", "cert-chain.pem", "cert-chain.pem");
            assert.ok(ok, text);
          }
          assert.ok((await run(at, "pkey", "-in", "key.pem", "-check", "-noout")).ok);
          const shown = (await run(at, "x509", "-in", "cert-chain.pem", "-noout", "-text")).text;
          assert.match(shown, text);
          assert.match(
            shown,
            new RegExp(`Alternative Name: critical\\s+URI:spiffe://cluster.local/ns/demo/sa/${name}\\n`),
          );
          assert.match(
            shown,
            /X509v3 Key Usage: critical\s+Digital Signature, Key Encipherment\n|Key Usage: critical\s+Digital Signature\n/,
          );
          assert.match(
            shown,
            /Extended Key Usage: ?\s+TLS Web (Server|Client) Authentication, TLS Web (Server|Client) Authentication\n/,
          );
          assert.match(shown, /Basic Constraints: critical\s+CA:FALSE/);
          assert.ok((await run(at, "x509", "-in", "cert-chain.pem", "-noout", "-checkend", "3500")).ok);
          assert.ok(
            !(await run(at, "x509", "-in", "cert-chain.pem", "-noout", "-checkend", "3601")).ok,
            "an hour at most",
          );
        }
        const client = `${agents[0]!.folder}/certs`;
        const own = ["-verify_return_error", "-CAfile", "root-cert.pem", "-brief"];
        const dial = ["s_client", "-connect", `127.0.0.1:${port}`, ...own, "-verify_hostname"];
        const server = await run(client, ...dial, "localhost");
        assert.ok(server.ok && /Verification: OK/.test(server.text), server.text);
        assert.ok(!(await run(client, ...dial, "other.test")).ok);
        const peer = ["s_client", "-connect", `127.0.0.1:${there}`, ...own, "-alpn", "istio"];
        const workload = await run(client, ...peer, "-cert", "cert-chain.pem", "-key", "key.pem");
        assert.ok(workload.ok && /Verification: OK/.test(workload.text), workload.text);
        assert.match(workload.text, /Protocol version: TLSv1\.3/);
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
