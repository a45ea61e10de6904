/** Workloads accepted by Envoys: roots and trust domains from the mesh configuration, sent while Envoys run. */
import assert from "node:assert/strict";
import { writeCertificates } from "../../lib/pki/certificate.ts";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import type { Certificate } from "../certificates.ts";
import { callerEcho } from "../e2e/support/caller_echo.ts";
import { makeLeaf, makeRoot, P256 } from "../pki/support/make.ts";
import { envoyPath } from "../envoy/path.ts";
import { askAs, strictWorkload } from "./support/mutual_client.ts";
import { startTokenAgent, withTokenServer } from "./support/token_agent.ts";
import { until } from "../patience.ts";

const ignore = envoyPath() === undefined;
const partner = await makeRoot(P256, { notAfter: Date.now() + 1e9, name: "partner" });
const ROOT = writeCertificates([partner.certificate]);

async function identity(trustDomain: string): Promise<Certificate> {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const { certificate, key } = await makeLeaf(partner, P256, { ...times, uris: [idIn(trustDomain)] });
  return { certificate: writeCertificates([certificate]), key: key.pem() };
}

const idIn = (trustDomain: string) => `spiffe://${trustDomain}/ns/shop/sa/cart`;

interface Workload {
  readonly ask: (own: Certificate) => Promise<string>;
  readonly setMesh: (mesh: object) => Promise<void>;
}

/** Runs a workload behind a real Envoy whose agent takes roots from the server. */
async function withWorkload(
  mesh: object,
  settings: { readonly PILOT_SKIP_VALIDATE_TRUST_DOMAIN?: boolean },
  run: (workload: Workload) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const meshFile = `${folder}/mesh.yaml`;
  const setMesh = (value: object) => Deno.writeTextFile(meshFile, `${JSON.stringify(value)}\n`);
  await setMesh(mesh);
  await withPorts(5, async ([port = 0, ...ports]) => {
    await using issuer = await TestIssuer.start();
    await using app = callerEcho();
    const files = { "world.yaml": strictWorkload(app.port, port) };
    const all = { issuer, files, meshFile, settings: { MESH_MULTIROOT_MESH: true, ...settings } };
    await withTokenServer(all, async (server) => {
      const env = { PROXY_CONFIG_XDS_AGENT: "true" };
      await using agent = await startTokenAgent(server, { name: "server", ports, env });
      try {
        await run({ ask: (own) => askAs(port, own), setMesh });
        assert.doesNotMatch(agent.output, /was rejected/);
      } catch (error) {
        throw new Error(agent.output, { cause: error });
      }
    });
  });
  await Deno.remove(folder, { recursive: true });
}

Deno.test({
  name:
    "a root of caCertificates is sent to agents while they run: their Envoys let workloads of its trust domain in, and no longer when it goes",
  ignore,
  fn: () =>
    withWorkload({}, {}, async ({ ask, setMesh }) => {
      const [caller, stranger] = [await identity("partner.example"), await identity("elsewhere.example")];
      assert.equal(await ask(caller), "refused", "nobody knows its root yet");
      await setMesh({ caCertificates: [{ pem: ROOT, trustDomains: ["partner.example"] }] });
      await until("the partner is let in", async () => await ask(caller) === idIn("partner.example"));
      assert.equal(await ask(stranger), "refused", "the root is known, the trust domain is not");
      await setMesh({});
      await until("the partner is refused again", async () => await ask(caller) === "refused");
    }),
});

Deno.test({
  name: "names must begin with the trust domain or an alias as a whole, and change with the mesh configuration",
  ignore,
  fn: () =>
    withWorkload({ caCertificates: [{ pem: ROOT }] }, {}, async ({ ask, setMesh }) => {
      const [own, old] = [await identity("cluster.local"), await identity("old.example")];
      const longer = await identity("old.example.evil.test");
      await until("the own trust domain is let in", async () => await ask(own) === idIn("cluster.local"));
      assert.equal(await ask(old), "refused");
      await setMesh({ caCertificates: [{ pem: ROOT }], trustDomainAliases: ["old.example"] });
      await until("the alias is let in", async () => await ask(old) === idIn("old.example"));
      assert.equal(await ask(longer), "refused", "a trust domain that begins like the alias");
      assert.equal(await ask(own), idIn("cluster.local"));
    }),
});

Deno.test({
  name: "with PILOT_SKIP_VALIDATE_TRUST_DOMAIN whoever has a certificate of a trusted root is let in",
  ignore,
  fn: () =>
    withWorkload(
      { caCertificates: [{ pem: ROOT }] },
      { PILOT_SKIP_VALIDATE_TRUST_DOMAIN: true },
      async ({ ask }) => {
        const stranger = await identity("elsewhere.example");
        await until("any trust domain is let in", async () => await ask(stranger) === idIn("elsewhere.example"));
      },
    ),
});
