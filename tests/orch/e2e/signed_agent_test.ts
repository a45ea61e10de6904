/**
 * A real agent gets its certificate from a signer of the orchestrator through the server, and serves its Envoy with the
 * certificate.
 */
import assert from "node:assert/strict";
import { startIdentityAgent } from "../../../scripts/demo/identity_agent.ts";
import { envoyPage } from "../../../scripts/demo/identity_mesh.ts";
import { PortTaken, saysTaken, withPorts } from "../../../scripts/ports.ts";
import { readCertificates } from "../../../lib/pki/certificate.ts";
import { envoyPath } from "../../e2e/support/mesh.ts";
import { opensslVerifies } from "../../pki/support/openssl.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { rootsOf, signerOf, withSigners } from "../support/signer_server.ts";
import { TestSigner } from "../support/test_signer.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();

test("an agent with a token of its account has a chain of ORCH_SIGNER for it, down from the signer's root, and an Envoy that is live", async ({ server, namespace }) => {
  if (envoyPath() === undefined) return;
  const SIGNER = signerOf(namespace);
  await using signer = await TestSigner.start(server.client, SIGNER);
  const settings = { EXTERNAL_CA: "ISTIOD_RA_ORCH_API", ORCH_SIGNER: SIGNER } as const;
  const mesh = rootsOf([SIGNER, signer.rootPem]);
  await withSigners(server, namespace, settings, mesh, async ({ access, uri }) => {
    await withPorts(4, async (ports) => {
      await using agent = await startIdentityAgent(access, {
        ...{ name: "cart", ports },
        env: { POD_NAMESPACE: namespace, OUTPUT_CERTS: "./certs" },
      });
      const read = (name: string) => Deno.readTextFile(`${agent.folder}/certs/${name}`).catch(() => "");
      try {
        await until("its Envoy", async () => await envoyPage(ports[0]!, "ready").catch(() => "") === "LIVE\n");
        await until("its certificate", async () => await read("root-cert.pem") !== "");
      } catch (error) {
        if (saysTaken(agent.output)) throw new PortTaken(agent.output);
        throw new Error(`${error}\n${agent.output}`, { cause: error });
      }
      const chain = readCertificates(await read("cert-chain.pem"));
      assert.deepEqual(chain[0]!.names.uris, [uri]);
      assert.match(await read("root-cert.pem"), new RegExp(RegExp.escape(signer.rootPem.trim())));
      const root = readCertificates(signer.rootPem);
      const verified = await opensslVerifies([...chain.slice(0, 2), ...root].map(({ der }) => der));
      assert.ok(verified.success, verified.text);
      const asked = signer.seen.at(-1)!;
      assert.ok(asked.usages.includes("client auth") && asked.usages.includes("server auth"));
    });
  });
});
