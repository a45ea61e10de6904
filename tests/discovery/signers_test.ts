import assert from "node:assert/strict";
import { startSignerRoots } from "../../lib/discovery/identity/signer_roots.ts";
import { signerProblems } from "../../lib/discovery/identity/signers.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { writeCertificates } from "../../lib/pki/certificate.ts";
import { makeRoot, P256 } from "../pki/support/make.ts";

const SIGNER = "issuers.example.com/mesh";

/** The signers' part of the mesh configuration. */
function meshOf(caCertificates: readonly { readonly pem: string; readonly certSigners?: readonly string[] }[]) {
  const listeners: (() => void)[] = [];
  const source = {
    state: { mesh: { caCertificates } },
    onChange: (listener: () => void) => void listeners.push(listener),
  };
  return {
    source: source as unknown as Parameters<typeof startSignerRoots>[0],
    set: (next: typeof caCertificates) => {
      source.state.mesh.caCertificates = next;
      for (const listener of listeners) listener();
    },
  };
}

Deno.test("a signer's roots come from the entries that name the signer, else from the mounted file, which is watched", async () => {
  const pem = async (name: string) => writeCertificates([(await makeRoot(P256, { name })).certificate]);
  const [one, two, three, mounted] = [await pem("one"), await pem("two"), await pem("three"), await pem("mounted")];
  const folder = await Deno.makeTempDir();
  const file = `${folder}/root-cert.pem`;
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  try {
    const named = { pem: one, certSigners: [SIGNER, "issuers.example.com/other"] };
    const mesh = meshOf([named, { pem: two, certSigners: [SIGNER] }, { pem: three }]);
    const roots = await startSignerRoots(mesh.source, kernel, file);
    assert.equal(roots.of(SIGNER), one + two);
    assert.equal(roots.of("issuers.example.com/other"), one);
    assert.equal(roots.of("issuers.example.com/unknown"), undefined);
    assert.ok(!roots.all.current().includes(three), "an entry without signers is the root of none");

    const changed = async (work: () => Promise<void> | void) => {
      const heard = Promise.withResolvers<void>();
      const end = roots.all.onChange(() => heard.resolve());
      await work();
      await heard.promise;
      end();
    };
    await changed(() => Deno.writeTextFile(file, `# the company's\n${mounted}`));
    assert.equal(roots.of("issuers.example.com/unknown"), mounted);
    assert.equal(roots.of(SIGNER), one + two, "the entry says more");
    // A text without a certificate leaves the last content in force; later content is read.
    await Deno.writeTextFile(file, "nonsense\n");
    await changed(() => Deno.writeTextFile(file, mounted + three));
    assert.equal(roots.of("issuers.example.com/unknown"), mounted + three);
    await changed(() => mesh.set([]));
    assert.deepEqual([roots.of(SIGNER), roots.all.current()], [mounted + three, mounted + three]);
    await changed(() => Deno.remove(file));
    assert.equal(roots.of(SIGNER), undefined);
  } finally {
    await kernel.stopper.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("settings without a valid signer are reported with the expectation, all at once", () => {
  const problems = (settings: Parameters<typeof defaultSettings>[1]) =>
    signerProblems(defaultSettings("pilot-discovery", settings)).map((text) => text.split(":")[0]);
  assert.deepEqual(problems({}), []);
  assert.deepEqual(problems({ EXTERNAL_CA: "ISTIOD_RA_ORCH_API", ORCH_SIGNER: SIGNER }), []);
  assert.deepEqual(problems({ EXTERNAL_CA: "ISTIOD_RA_ORCH_API", CERT_SIGNER_DOMAIN: "issuers.example.com" }), []);
  assert.deepEqual(problems({ PILOT_CERT_PROVIDER: `orch.io/${SIGNER}` }), []);
  assert.deepEqual(problems({ EXTERNAL_CA: "ISTIOD_RA_ORCH_API" }), ["EXTERNAL_CA"]);
  assert.deepEqual(
    problems({ ORCH_SIGNER: "mesh", CERT_SIGNER_DOMAIN: SIGNER, PILOT_CERT_PROVIDER: "orch.io/" }),
    ["ORCH_SIGNER", "CERT_SIGNER_DOMAIN", "PILOT_CERT_PROVIDER"],
  );
});
