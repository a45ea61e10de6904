/** A new authority of the operator replaces the former authority while requests run. */
import assert from "node:assert/strict";
import { type Certificate, readCertificates } from "../../../lib/pki/certificate.ts";
import { issueRoot } from "../../../lib/pki/issue.ts";
import { certificatePem } from "../../../lib/pki/pem.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { envoyCount, IdentityMesh, SHORT_LEAVES } from "../../../scripts/demo/identity_mesh.ts";
import { Load, oneRequest } from "../../../scripts/demo/load.ts";
import { pairFiles, shortConnectionsFile } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath } from "../../envoy/path.ts";
import { envoySerials, shortSerial } from "../support/envoy_serials.ts";
import { until } from "../../patience.ts";

const CLIENT = "spiffe://cluster.local/ns/demo/sa/client";

/** A signing root: certificate and key as PEM. */
async function makeRoot(organization: string): Promise<{ readonly certificate: string; readonly key: string }> {
  const key = await PrivateKey.generate({ type: "EC", curve: "P-256" });
  const validity = { notBefore: Date.now() - 600_000, notAfter: Date.now() + 3_600_000 };
  const certificate = certificatePem(await issueRoot(key, { ...validity, subject: { organization } }));
  return { certificate, key: key.pem() };
}

Deno.test({
  name:
    "an authority with another key takes over under load in three steps, both roots, the new signer, the new root alone, and no request and no handshake fails",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(11, async ([port = 0, here = 0, there = 0, ...ports]) => {
      const folder = await Deno.makeTempDir({ prefix: "mesh-roots-" });
      const [old, next] = [await makeRoot("old"), await makeRoot("next")];
      const bring = async (signer: typeof old, roots: readonly (typeof old)[]) => {
        const texts = { "root-cert.pem": roots.map(({ certificate }) => certificate).join("") };
        const files = { ...texts, "ca-cert.pem": signer.certificate, "ca-key.pem": signer.key };
        for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
      };
      await bring(old, [old]);
      try {
        await using app = callerEcho();
        await using mesh = await IdentityMesh.start({
          port,
          env: { ROOT_CA_DIR: folder, MESH_MULTIROOT_MESH: "true" },
          roots: old.certificate,
          files: {
            ...pairFiles({ client: here, server: there, application: app.port, mode: "STRICT" }),
            "short.yaml": shortConnectionsFile(3),
          },
        });
        try {
          const env = { ...SHORT_LEAVES, OUTPUT_CERTS: "./certs" };
          const agents = [
            await mesh.agent({ name: "server", ports: ports.slice(0, 4), env }),
            await mesh.agent({ name: "client", ports: ports.slice(4, 8), env }),
          ];
          /**
           * Issuer and roots of both workloads: the organization of the certificate's signer, and the organizations of
           * the trusted roots. An agent writes files before its Envoy gets the same: until then, no text.
           */
          const held = () =>
            Promise.all(agents.map(async ({ folder }, i) => {
              const [[leaf], roots] = await Promise.all(
                ["cert-chain.pem", "root-cert.pem"].map(async (name) =>
                  readCertificates(await Deno.readTextFile(`${folder}/certs/${name}`))
                ),
              ) as [[Certificate], Certificate[]];
              const inEnvoy = await envoySerials(ports[4 * i]!);
              const isInForce = inEnvoy.own === shortSerial(leaf.serial) &&
                roots.every(({ serial }) => inEnvoy.roots.includes(shortSerial(serial)));
              return isInForce ? `${leaf.issuer} of ${roots.map(({ subject }) => subject).sort().join(" ")}` : "";
            }));
          const all = async (wanted: string) => {
            await until(wanted, async () => {
              try {
                return (await held()).every((one) => one === wanted);
              } catch (error) {
                // While an agent replaces the key there is no certificate.
                if (error instanceof Deno.errors.NotFound) return false;
                throw error;
              }
            });
          };
          await until("a request passes both sidecars", async () => await oneRequest(here, "app.test") === CLIENT);
          const errors = () => envoyCount(ports[4]!, "^cluster.outbound.*ssl.(connection_error|fail_verify)");
          const wrong = await errors();
          await using load = new Load(here, "app.test");
          await all("O=old of O=old");
          await bring(old, [old, next]);
          await all("O=old of O=next O=old");
          // Agents verify the control plane's certificate by a file of the operator.
          for (const agent of agents) {
            await agent.write("var/run/secrets/mesh/root-cert.pem", old.certificate + next.certificate);
          }
          await bring(next, [old, next]);
          await all("O=next of O=next O=old");
          await bring(next, [next]);
          await all("O=next of O=next");
          await load.more(200);
          const { answers, failures } = load.take();
          assert.deepEqual([Object.keys(answers), failures], [[CLIENT], {}]);
          assert.equal(await errors(), wrong, "handshakes that failed");
        } catch (error) {
          throw mesh.failure(error);
        }
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
