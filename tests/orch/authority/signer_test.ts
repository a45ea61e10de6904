/** Signers of a real API sign for workloads and for the server; each right is needed, and each refusal has its words. */
import assert from "node:assert/strict";
import { createLog, defaultLogOptions, silentLog } from "../../../lib/kernel/log/log.ts";
import { scopes } from "../../../lib/kernel/log/scopes.ts";
import { SigningRefused, SigningRequests } from "../../../lib/orch/signing/signing_requests.ts";
import { readCertificates, writeCertificates } from "../../../lib/pki/certificate.ts";
import { createCertificateRequest } from "../../../lib/pki/request.ts";
import { makeRoot, P256 } from "../../pki/support/make.ts";
import { opensslVerifies } from "../../pki/support/openssl.ts";
import { everyRightIsNeeded } from "../support/server/one_right_less.ts";
import { accountClient } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { DOMAIN, key, REQUEST_KIND, requestsOf, rootsOf, signerOf, withSigners } from "../support/signer_server.ts";
import { TestSigner } from "../support/test_signer.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
async function isVerified(chain: readonly string[] | string): Promise<void> {
  assert.ok(Array.isArray(chain), String(chain));
  const ders = (chain as readonly string[]).flatMap((text) => readCertificates(text)).map(({ der }) => der);
  const { success, text } = await opensslVerifies(ders);
  assert.ok(success, text);
}

test("EXTERNAL_CA has ORCH_SIGNER sign for workloads, and other signers of CERT_SIGNER_DOMAIN where they ask for them", async ({ server, namespace }) => {
  const SIGNER = signerOf(namespace);
  await using usual = await TestSigner.start(server.client, SIGNER);
  await using other = await TestSigner.start(server.client, `${DOMAIN}/other`);
  const settings = { EXTERNAL_CA: "ISTIOD_RA_ORCH_API", ORCH_SIGNER: SIGNER, CERT_SIGNER_DOMAIN: DOMAIN } as const;
  const mesh = rootsOf([SIGNER, usual.rootPem], [`${DOMAIN}/other`, other.rootPem]);
  await withSigners(server, namespace, settings, mesh, async ({ ask, uri, setMesh }) => {
    const chain = await ask();
    await isVerified(chain);
    assert.equal(chain.length, 3);
    const [leaf] = readCertificates(chain[0]!);
    assert.deepEqual([leaf!.names.uris, leaf!.spki], [[uri], key.spki]);
    assert.equal(chain[2], usual.rootPem);
    const usages = ["digital signature", "key encipherment", "client auth", "server auth"];
    assert.deepEqual(usual.seen.map(({ usages, seconds }) => ({ usages, seconds })), [{ usages, seconds: 3600 }]);

    const named = await ask({ CertSigner: "other" });
    await isVerified(named);
    assert.equal(named[2], other.rootPem);

    const many = await Promise.all(Array.from({ length: 40 }, () => ask()));
    for (const each of many) assert.equal(each.length, 3, String(each));
    await until("every request is taken away", async () => (await requestsOf(server, SIGNER)).length === 0);

    // Roots of another authority: no certificate of the signer leads to them.
    const foreign = writeCertificates([(await makeRoot()).certificate]);
    await setMesh(rootsOf([SIGNER, foreign]));
    assert.match(String(await ask()), /^FAILED_PRECONDITION: signer .*is not known$/);
  });
});

test("refusals of the server, of an approver and of the signer have their status and their words", async ({ server, namespace }) => {
  const SIGNER = signerOf(namespace);
  await using signer = await TestSigner.start(server.client, SIGNER);
  const settings = { EXTERNAL_CA: "ISTIOD_RA_ORCH_API", ORCH_SIGNER: SIGNER } as const;
  await withSigners(server, namespace, settings, rootsOf([SIGNER, signer.rootPem]), async ({ ask, uri }) => {
    const forAdmin = await createCertificateRequest(key, { uris: [uri.replace(/cart$/, "admin")] });
    assert.match(String(await ask({}, { csr: forAdmin })), /^INVALID_ARGUMENT: csr: names: got .*admin/);
    assert.match(
      String(await ask({ CertSigner: "other" })),
      /^INVALID_ARGUMENT: CertSigner: got "other", expected none/,
    );
    assert.match(
      String(await ask({}, { seconds: 60 })),
      /^INVALID_ARGUMENT: the lifetime: got 60 s, expected at least/,
    );
    assert.equal(signer.seen.length, 0);

    signer.answer = () =>
      Promise.resolve({ condition: { type: "Failed", reason: "Policy", message: "no key of ours" } });
    assert.equal(await ask(), "FAILED_PRECONDITION: the signer failed: Policy: no key of ours");
    signer.answer = async ({ spki }) => ({
      pem: await signer.sign({
        spki,
        names: { uris: ["spiffe://cluster.local/ns/a/sa/b"], dns: [], ips: [], emails: [] },
      }),
    });
    assert.match(String(await ask()), /^FAILED_PRECONDITION: signer .*: expected names /);

    // A client that leaves takes its request with it.
    signer.answer = () => Promise.resolve(undefined);
    assert.match(String(await ask({}, { within: 1500 })), /^DEADLINE_EXCEEDED/);
    await until("the request is taken away", async () => (await requestsOf(server, SIGNER)).length === 0);
  });
});

test("PILOT_CERT_PROVIDER=orch.io/SIGNER: the server's certificate and the roots that are handed out are the signer's, and are renewed with its roots", async ({ server, namespace }) => {
  const SIGNER = signerOf(namespace);
  await using signer = await TestSigner.start(server.client, SIGNER);
  const settings = {
    ...{ EXTERNAL_CA: "ISTIOD_RA_ORCH_API", ORCH_SIGNER: SIGNER } as const,
    PILOT_CERT_PROVIDER: `orch.io/${SIGNER}`,
  };
  await withSigners(server, namespace, settings, rootsOf([SIGNER, signer.rootPem]), async ({ ask, setMesh }) => {
    assert.deepEqual(signer.seen[0]!.usages, ["digital signature", "key encipherment", "server auth"]);
    // The client verifies the server by the roots of the mesh.
    await isVerified(await ask());
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "mesh-ca-secret" } };
    assert.equal(await server.objects.get(secret), undefined, "no authority of its own is made");

    const next = writeCertificates([(await makeRoot(P256, { name: "next" })).certificate]);
    const before = signer.seen.length;
    await setMesh(rootsOf([SIGNER, signer.rootPem + next]));
    await until("it is made anew", () => signer.seen.length > before);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "mesh-ca-root-cert" } };
    await until("the new roots are handed out", async () => {
      const data = (await server.objects.get(map))?.["data"] as Readonly<Record<string, string>>;
      return data["root-cert.pem"] === signer.rootPem + next;
    });
  });
});

test("the rights of the manifests are enough to have requests signed; one verb less, and the API refuses that step", async ({ server }) => {
  const SIGNER = `${DOMAIN}/mesh`;
  await using _signer = await TestSigner.start(server.client, SIGNER);
  const request = await createCertificateRequest(key, { uris: ["spiffe://cluster.local/ns/shop/sa/cart"] });
  const order = { signer: SIGNER, request, usages: ["client auth", "digital signature"], seconds: 3600 };
  await everyRightIsNeeded(server, ["signing"], () => true, async (as) => {
    const requests = new SigningRequests(as.client, silentLog().scope("pkira"));
    const stop = new AbortController();
    const signing = requests.sign(order, stop.signal);
    signing.catch(() => {});
    const signed = await Promise.race([signing, as.refused]);
    if (as.without === undefined) assert.match(signed, /^-----BEGIN CERTIFICATE-----/);
    // The server deletes a signed request.
    if (as.without?.verb === "delete") await as.refused;
    stop.abort(new Error("enough"));
    await requests.stop();
    await signing.catch(() => {});
  });
});

test("a request that this server may not approve waits for somebody who may, and says why it was not signed in time", async ({ server, namespace }) => {
  const SIGNER = signerOf(namespace);
  await using _signer = await TestSigner.start(server.client, SIGNER);
  const account = "unapproved";
  await server.users.account(namespace, account);
  const rules = [{
    apiGroups: ["certificates.k8s.io"],
    resources: ["certificatesigningrequests"],
    verbs: ["create", "list", "watch", "delete"],
  }];
  await server.users.grant({ kind: "ServiceAccount", name: account, namespace }, `${namespace}-asks`, rules);
  await server.users.granted(namespace, account, {
    verb: "create",
    resource: "certificatesigningrequests",
    group: "certificates.k8s.io",
  });
  using as = await accountClient(server, namespace, account);
  const lines: string[] = [];
  const log = createLog(scopes["pilot-discovery"], { ...defaultLogOptions, json: true }, {
    open: () => ({ write: (line) => void lines.push(new TextDecoder().decode(line)), close: () => {} }),
  });
  const requests = new SigningRequests(as.client, log.scope("pkira"));
  const request = await createCertificateRequest(key, { uris: ["spiffe://cluster.local/ns/shop/sa/cart"] });
  const order = { signer: SIGNER, request, usages: ["client auth", "digital signature"], seconds: 3600 };
  const decide = async (type: "Approved" | "Denied") => {
    await until("the request is there", async () => (await requestsOf(server, SIGNER)).length === 1);
    const [only] = await requestsOf(server, SIGNER);
    const path = `${await server.objects.path({ ...REQUEST_KIND, metadata: { name: only!.metadata.name } })}/approval`;
    const conditions = [{ type, status: "True", reason: "Policy", message: "looked at" }];
    const body = { status: { conditions } };
    await server.client.tell({ method: "PATCH", path, body, type: "application/merge-patch+json" });
  };
  const left = () => until("the request is taken away", async () => (await requestsOf(server, SIGNER)).length === 0);
  try {
    const stop = new AbortController();
    const late = requests.sign(order, stop.signal);
    const expected = assert.rejects(late, (error) =>
      error instanceof SigningRefused && error.reason === "late" &&
      /no certificate: out of time: nobody approved the request, and this server may not approve: PATCH .*403/.test(
        error.message,
      ));
    await until("this server learns it", () => lines.some((line) => line.includes("somebody else must approve them")));
    stop.abort(new Error("out of time"));
    await expected;
    await left();

    const signed = requests.sign(order, new AbortController().signal);
    await decide("Approved");
    assert.match(await signed, /^-----BEGIN CERTIFICATE-----/);
    await left();

    const denied = requests.sign(order, new AbortController().signal);
    const refusal = assert.rejects(denied, new SigningRefused("denied", "the request was denied: Policy: looked at"));
    await decide("Denied");
    await refusal;
    await left();

    const gone = requests.sign(order, new AbortController().signal);
    const failed = assert.rejects(gone, /was taken away by somebody else/);
    await until("the request is there", async () => (await requestsOf(server, SIGNER)).length === 1);
    const [only] = await requestsOf(server, SIGNER);
    await server.objects.delete({ ...REQUEST_KIND, metadata: { name: only!.metadata.name } });
    await failed;
  } finally {
    await requests.stop();
  }
});
