/**
 * The authority of several servers is in one secret: made once, replaced once, followed by all servers; or brought
 * along.
 */
import assert from "node:assert/strict";
import { SelfSigned, type SelfSignedOptions } from "../../../lib/authority/self_signed.ts";
import { Succession } from "../../../lib/authority/succession.ts";
import { findAuthoritySecret, followSecret } from "../../../lib/discovery/identity/authority_secret.ts";
import { followBrought } from "../../../lib/discovery/identity/brought_authority.ts";
import { SecretRootStore, secretTexts } from "../../../lib/discovery/identity/root_secret.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { createLog, defaultLogOptions, silentLog } from "../../../lib/kernel/log/log.ts";
import { scopes } from "../../../lib/kernel/log/scopes.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { type Certificate, readCertificate, writeCertificates } from "../../../lib/pki/certificate.ts";
import { issueRoot } from "../../../lib/pki/issue.ts";
import { PkiError } from "../../../lib/pki/pki_error.ts";
import { withServer } from "../../discovery/running.ts";
import { DAY, makeIntermediate, makeLeaf, makeRoot, P256 } from "../../pki/support/make.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { everyRightIsNeeded, type Right, SYSTEM } from "../support/server/one_right_less.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const LIFETIME = 100 * DAY;
const OWN = "mesh-ca-secret", ISTIOS = "istio-ca-secret";

function optionsFor(
  store: SecretRootStore,
  now: number,
): SelfSignedOptions & { clock: ReturnType<typeof createFakeClock> } {
  return {
    ...{ store, clock: createFakeClock(now), organization: "cluster.local", lifetime: LIFETIME, keyBits: 2048 },
    ...{ graceRatio: 0.2, checkInterval: 0, jitter: false, random: () => 0.5, log: silentLog().scope("pkica") },
  };
}

const storeOf = (server: ApiServer, namespace: string) =>
  new SecretRootStore(server.client, { namespace, name: OWN, generated: false });

const id = (namespace: string, name: string) => ({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name } });

/** The keys of a secret as texts. */
async function textsOf(server: ApiServer, namespace: string, name: string) {
  const found = await server.objects.get(id(namespace, name));
  return found === undefined ? undefined : secretTexts(found, name);
}

const encoded = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, btoa(text)]));

test("of servers that start together one makes the root, and all use it", async ({ server, namespace }) => {
  const starts = [1, 2, 3, 4].map(() => SelfSigned.start(optionsFor(storeOf(server, namespace), Date.now())));
  const roots = (await Promise.all(starts)).map(({ material }) => material.current()!.rootsPem);
  assert.equal(new Set(roots).size, 1);
  const secret = await server.objects.get(id(namespace, OWN));
  assert.equal(secret?.["type"], "mesh.io/ca-root");
  const texts = (await textsOf(server, namespace, OWN))!;
  assert.deepEqual([texts["root-cert.pem"], texts["ca-cert.pem"]], [roots[0], roots[0]]);
});

test("one replaces the root, the others follow as the secret changes; who loses the race takes the winner's", async ({ server, namespace }) => {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const now = Date.now();
  const options = [1, 2, 3, 4].map(() => optionsFor(storeOf(server, namespace), now));
  const [a, b, c, lagging] = await Promise.all(options.map((each) => SelfSigned.start(each)));
  const before = a!.material.current()!.certificate.fingerprint;
  const stop = followSecret(server.client, namespace, OWN, kernel, () => void c!.check());
  try {
    for (const { clock } of options.slice(0, 3)) await clock.advance(90 * DAY);
    await Promise.all([a!.check(), b!.check()]);
    const after = a!.material.current()!;
    assert.notEqual(after.certificate.fingerprint, before);
    assert.equal(b!.material.current()!.rootsPem, after.rootsPem);
    await until("the third follows", () => c!.material.current()!.rootsPem === after.rootsPem);
    // A server whose clock lags refuses a root with a later begin, and takes the root once the clock has caught up.
    await lagging!.check();
    assert.equal(lagging!.material.current()!.certificate.fingerprint, before);
    await options[3]!.clock.advance(90 * DAY);
    await lagging!.check();
    assert.equal(lagging!.material.current()!.rootsPem, after.rootsPem);
    const texts = (await textsOf(server, namespace, OWN))!;
    assert.equal(texts["root-cert.pem"], after.rootsPem);
    assert.equal(after.roots.length, 2);

    await server.objects.delete(id(namespace, OWN));
    await until(
      "what all trust is put back",
      async () => (await textsOf(server, namespace, OWN))?.["root-cert.pem"] === after.rootsPem,
    );
  } finally {
    await stop();
    await kernel.stopper.stop();
  }
});

test("the authority's secret is the operator's secret, else the secret that servers made, else a new secret", async ({ server }) => {
  const data = (generated: boolean) => encoded({ "ca-key.pem": "k", ...generated ? { "mesh-generated": "" } : {} });
  const rows: readonly (readonly [readonly (readonly [string, boolean])[], boolean, string, boolean])[] = [
    [[], false, OWN, true],
    [[[ISTIOS, false]], false, ISTIOS, true],
    [[[ISTIOS, false]], true, ISTIOS, true],
    [[[ISTIOS, false], [OWN, false]], false, OWN, true],
    [[[ISTIOS, false], ["cacerts", false]], false, "cacerts", false],
    [[], true, "cacerts", true],
    [[[OWN, false]], true, OWN, true],
    [[["cacerts", true]], false, "cacerts", true],
    [[["cacerts", true], [OWN, false]], true, "cacerts", true],
    [[["cacerts", false], [OWN, false]], true, "cacerts", false],
  ];
  for (const [secrets, asBrought, name, own] of rows) {
    const namespace = await server.namespace();
    for (const [each, generated] of secrets) {
      await server.objects.create({ ...id(namespace, each), data: data(generated) });
    }
    const found = await findAuthoritySecret(server.client, namespace, asBrought);
    assert.deepEqual([found.name, found.store !== undefined], [name, own], JSON.stringify([secrets, asBrought]));
  }
});

test("a secret that is no authority is refused by name, and not written over", async ({ server, namespace }) => {
  await server.objects.create({ ...id(namespace, OWN), data: encoded({ other: "text" }) });
  const expected = (error: unknown) =>
    error instanceof PkiError && error.message.includes(`secret ${namespace}/${OWN}`);
  await assert.rejects(SelfSigned.start(optionsFor(storeOf(server, namespace), Date.now())), expected);
  assert.deepEqual(await textsOf(server, namespace, OWN), { other: "text" });
});

const orchOf = (server: ApiServer) => ({
  place: { from: "files", files: [server.kubeconfig], by: "test" } as const,
  ...{ qps: 80, burst: 160, allowed: [], namespace: "", kinds: true, services: true },
});

/** Runs a server in a namespace whose authority is in the API. */
async function withAuthority(
  server: ApiServer,
  namespace: string,
  settings: { readonly USE_CACERTS_FOR_SELF_SIGNED_CA?: boolean; readonly MESH_MULTIROOT_MESH?: boolean },
  run: () => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const options = { configDir: undefined, orch: orchOf(server), systemNamespace: namespace };
  const places = { ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: `${folder}/self` };
  await withServer({}, run, { options, settings: { ...settings, ...places, XDS_AUTH_PLAINTEXT: true } });
  await Deno.remove(folder, { recursive: true });
}

/** Resolves when the config map of roots in a namespace has the expected roots. */
async function handedOut(
  server: ApiServer,
  namespace: string,
  roots: () => Promise<string | undefined>,
): Promise<void> {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "mesh-ca-root-cert" } };
  await until("the roots are handed out", async () => {
    const data = (await server.objects.get(map))?.["data"] as Readonly<Record<string, string>> | undefined;
    const expected = await roots();
    return expected !== undefined && data?.["root-cert.pem"] === expected;
  });
}

test("a server keeps its root in the secret and hands it out to namespaces; the name is cacerts where that is asked for", async ({ server, namespace }) => {
  await withAuthority(server, namespace, {}, async () => {
    await handedOut(server, namespace, async () => (await textsOf(server, namespace, OWN))?.["root-cert.pem"]);
  });
  const other = await server.namespace();
  await withAuthority(server, other, { USE_CACERTS_FOR_SELF_SIGNED_CA: true }, async () => {
    await handedOut(server, other, async () => (await textsOf(server, other, "cacerts"))?.["root-cert.pem"]);
  });
  assert.ok("mesh-generated" in (await textsOf(server, other, "cacerts"))!);
});

test("a server whose certificate is in files hands out the root of the files, too, and nothing else of that file", async ({ server, namespace }) => {
  const validity = { notAfter: Date.now() + 30 * DAY };
  const root = await makeRoot(P256, validity);
  const leaf = await makeLeaf(root, P256, { ...validity, notBefore: Date.now() - 1000, dns: ["localhost"] });
  const folder = await Deno.makeTempDir();
  const rootPem = writeCertificates([root.certificate]);
  const files = { tlsCertFile: `${folder}/tls.crt`, tlsKeyFile: `${folder}/tls.key`, caCertFile: `${folder}/ca.crt` };
  await Deno.writeTextFile(files.tlsCertFile, writeCertificates([leaf.certificate]));
  await Deno.writeTextFile(files.tlsKeyFile, leaf.key.pem());
  await Deno.writeTextFile(files.caCertFile, `${rootPem}${root.key.pem()}`);
  const options = {
    ...{ configDir: undefined, orch: orchOf(server), systemNamespace: namespace, secureGrpc: "127.0.0.1:0" },
    tls: { cipherSuites: [], files },
  };
  const places = { ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: `${folder}/self` };
  await withServer({}, async () => {
    await handedOut(server, namespace, async () => {
      const own = (await textsOf(server, namespace, OWN))?.["root-cert.pem"];
      return own === undefined ? undefined : own + rootPem;
    });
  }, { options, settings: places });
  await Deno.remove(folder, { recursive: true });
});

test("an authority that is brought along as secret cacerts is used, and followed as it is replaced", async ({ server, namespace }) => {
  const validity = { notAfter: Date.now() + 300 * DAY };
  const root = await makeRoot(P256, validity);
  const pem = (made: typeof root) => writeCertificates([made.certificate]);
  const data = (made: typeof root) =>
    encoded({
      "ca-cert.pem": pem(made),
      "ca-key.pem": made.key.pem(),
      "root-cert.pem": pem(root),
      "cert-chain.pem": "",
    });
  const first = await makeIntermediate(root, P256, validity);
  await server.objects.create({ ...id(namespace, "cacerts"), data: data(first) });
  const next = await makeRoot(P256, { ...validity, name: "next" });
  await withAuthority(server, namespace, { MESH_MULTIROOT_MESH: true }, async () => {
    await handedOut(server, namespace, () => Promise.resolve(pem(root)));
    await server.objects.patch(id(namespace, "cacerts"), { data: { ...data(next), "root-cert.pem": btoa(pem(next)) } });
    await handedOut(server, namespace, () => Promise.resolve(pem(next)));
    await server.objects.patch(id(namespace, "cacerts"), { data: { "ca-key.pem": btoa("no key") } });
    await server.objects.delete(id(namespace, "cacerts"));
    const other = await server.namespace();
    await handedOut(server, other, () => Promise.resolve(pem(next)));
  });
  assert.equal(await textsOf(server, namespace, OWN), undefined);
});

test("the secret of Istio's servers is shared: its root is handed out, one that they write is followed, one of ours keeps what they read", async ({ server, namespace }) => {
  const validity = { notAfter: Date.now() + 300 * DAY };
  const root = await makeRoot({ type: "RSA", bits: 2048 }, validity);
  const pem = (certificate: Certificate) => writeCertificates([certificate]);
  // As Istio writes the secret: no roots, and keys of certificates that are absent.
  const texts = { "ca-cert.pem": pem(root.certificate), "ca-key.pem": root.key.pem(), "root-cert.pem": "" };
  const data = encoded({ ...texts, "cert-chain.pem": "", "key.pem": "" });
  await server.objects.create({ ...id(namespace, ISTIOS), type: "istio.io/ca-root", data });
  await withAuthority(server, namespace, {}, async () => {
    await handedOut(server, namespace, () => Promise.resolve(pem(root.certificate)));
    const subject = root.certificate.subjectDer;
    const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 400 * DAY };
    const next = readCertificate(await issueRoot(root.key, { ...times, subject }));
    await server.objects.patch(id(namespace, ISTIOS), { data: encoded({ "ca-cert.pem": pem(next) }) });
    await handedOut(server, namespace, () => Promise.resolve(pem(next)));
  });
  assert.equal(await textsOf(server, namespace, OWN), undefined, "no other root is made");
  const store = new SecretRootStore(server.client, { namespace, name: ISTIOS, generated: false });
  const options = optionsFor(store, Date.now());
  const source = await SelfSigned.start({ ...options, lifetime: 800 * DAY });
  await options.clock.advance(390 * DAY);
  await source.check();
  const ours = (await textsOf(server, namespace, ISTIOS))!;
  assert.equal(ours["ca-cert.pem"], pem(source.material.current()!.certificate));
  assert.notEqual(ours["ca-cert.pem"], texts["ca-cert.pem"]);
  assert.equal(ours["ca-key.pem"], root.key.pem());
  // Istio writes the certificate alone.
  const theirs = readCertificate(
    await issueRoot(root.key, {
      ...{ notBefore: Date.now() - 1000, notAfter: Date.now() + 1500 * DAY },
      subject: root.certificate.subjectDer,
    }),
  );
  await server.objects.patch(id(namespace, ISTIOS), { data: encoded({ "ca-cert.pem": pem(theirs) }) });
  await source.check();
  assert.equal(source.material.current()!.certificate.fingerprint, theirs.fingerprint);
});

test("an authority that is brought along later takes the place of the servers' own without a restart; other roots only where several are allowed", async ({ server, namespace }) => {
  const validity = { notAfter: Date.now() + 300 * DAY };
  const other = await makeRoot(P256, { ...validity, name: "other" });
  const pem = (certificate: Certificate) => writeCertificates([certificate]);
  const brought = (made: typeof other, roots: string) => ({
    ...id(namespace, "cacerts"),
    data: encoded({ "ca-cert.pem": pem(made.certificate), "ca-key.pem": made.key.pem(), "root-cert.pem": roots }),
  });
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const self = await SelfSigned.start(optionsFor(storeOf(server, namespace), Date.now()));
  const { certificate, key, rootsPem } = self.material.current()!;
  const succession = new Succession(self);
  const changes: string[] = [];
  succession.material.onChange((next) => changes.push(next!.certificate.issuer));
  const refused: string[] = [];
  const lines = createLog(scopes["pilot-discovery"], { ...defaultLogOptions, json: true }, {
    open: () => ({ write: (line) => void refused.push(new TextDecoder().decode(line)), close: () => {} }),
  });
  const follow = { client: server.client, namespace, succession, multiRoot: false };
  const stop = followBrought(follow, { ...kernel, log: lines });
  try {
    await server.objects.create(brought(other, pem(other.certificate)));
    await until("it is refused", () => refused.some((line) => line.includes("MESH_MULTIROOT_MESH")));
    await server.objects.patch(id(namespace, "cacerts"), { data: encoded({ "ca-key.pem": "no key" }) });
    await until("it is refused again", () => refused.some((line) => line.includes("ca-key.pem")));
    assert.equal(succession.material.current()!.certificate.fingerprint, certificate.fingerprint);

    const below = await makeIntermediate({ certificate, key }, P256, validity);
    await server.objects.patch(id(namespace, "cacerts"), { data: brought(below, rootsPem).data });
    await until("it is taken", () => succession.material.current()!.between.length === 1);
    const after = await makeIntermediate({ certificate, key }, P256, { ...validity, name: "after" });
    await server.objects.patch(id(namespace, "cacerts"), { data: brought(after, rootsPem).data });
    await until(
      "it is followed",
      () => succession.material.current()!.certificate.subject === after.certificate.subject,
    );
    assert.equal(changes.length, 2);
  } finally {
    await stop();
    await succession.stop();
    await kernel.stopper.stop();
  }
  const several = await server.namespace();
  await withAuthority(server, several, { MESH_MULTIROOT_MESH: true }, async () => {
    await handedOut(server, several, async () => (await textsOf(server, several, OWN))?.["root-cert.pem"]);
    const { data } = brought(other, pem(other.certificate));
    await server.objects.create({ ...id(several, "cacerts"), data });
    await handedOut(server, several, () => Promise.resolve(pem(other.certificate)));
  });
});

test("the account of the manifests may keep the secret of each name; with one verb less it is refused", async ({ server }) => {
  const now = Date.now();
  for (const name of ["mesh-ca-secret", "istio-ca-secret", "cacerts"]) {
    const needs = (right: Right) =>
      right.resource === "secrets" && right.role === "Role" && [undefined, name].includes(right.name);
    await everyRightIsNeeded(server, ["pilot-discovery"], needs, async (as) => {
      if (await textsOf(server, SYSTEM, name) !== undefined) await server.objects.delete(id(SYSTEM, name));
      const options = optionsFor(new SecretRootStore(as.client, { namespace: SYSTEM, name, generated: false }), now);
      const source = await SelfSigned.start(options);
      await options.clock.advance(90 * DAY);
      await source.check();
      assert.equal(source.material.current()!.roots.length, 2);
    });
    await server.objects.delete(id(SYSTEM, name));
  }
});
