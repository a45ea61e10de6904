/** Certificates by signers elsewhere: the requests to signers, and the accepted parts of their answers. */
import assert from "node:assert/strict";
import { type IssuedChain, IssueError } from "../../lib/authority/issuing.ts";
import { OwnIdentity } from "../../lib/authority/own_identity.ts";
import { isSignerDomain, isSignerName, signerOf } from "../../lib/authority/signer_name.ts";
import { type SignElsewhere, Signers, type SignersOptions } from "../../lib/authority/signers.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { QueueFull } from "../../lib/kernel/time/work_queue.ts";
import { readCertificates, writeCertificates } from "../../lib/pki/certificate.ts";
import { bits, objectId, octets, sequence, set, tagged, TRUE, unsignedInteger } from "../../lib/pki/der_write.ts";
import { issueLeaf } from "../../lib/pki/issue.ts";
import { certificatePem, writePem } from "../../lib/pki/pem.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { createCertificateRequest, readCertificateRequest } from "../../lib/pki/request.ts";
import { DAY, HOUR, makeIntermediate, makeRoot, NOW, P256 } from "../pki/support/make.ts";
import { opensslVerifies } from "../pki/support/openssl.ts";

const SIGNER = "issuers.example.com/mesh";
const URI = "spiffe://cluster.local/ns/shop/sa/cart";
const root = await makeRoot();
const between = await makeIntermediate(root);
const ROOT = writeCertificates([root.certificate]), BETWEEN = writeCertificates([between.certificate]);
const key = await PrivateKey.generate(P256);
const CSR = await createCertificateRequest(key, { uris: [URI] });
const REQUEST = await readCertificateRequest(CSR);

/** A leaf of the intermediate authority. */
async function leaf(uris: readonly string[], spki = key.spki): Promise<string> {
  const times = { notBefore: NOW - HOUR, notAfter: NOW + HOUR };
  return certificatePem(await issueLeaf(between, { spki, names: { uris, dns: [] }, ...times }));
}

const GOOD = await leaf([URI]) + BETWEEN;

function signers(sign: SignElsewhere, more: Partial<SignersOptions> = {}): Signers {
  return new Signers({
    ...{ sign, roots: () => ROOT, onRoots: () => () => {}, clock: createFakeClock(NOW) },
    ...{ names: { usual: SIGNER, domain: "issuers.example.com" }, lifetimes: { usual: DAY, most: 90 * DAY } },
    ...more,
  });
}

/** Asks at once: the next steps of the test come after the question. */
function ask(
  of: Signers,
  { request = REQUEST, signer = "", lifetime = HOUR, signal = new AbortController().signal } = {},
): Promise<IssuedChain> {
  return of.issueWorkload({ uri: URI, request, signer, lifetime, signal });
}

const refused = (reason: IssueError["reason"], text: RegExp) => (error: unknown) =>
  error instanceof IssueError && error.reason === reason && text.test(error.message);

Deno.test("a signer gets the request as it is, with usages and seconds; its chain and roots are handed out, and openssl verifies them", async () => {
  const orders: Parameters<SignElsewhere>[0][] = [];
  const of = signers((order) => {
    orders.push(order);
    return Promise.resolve(GOOD + ROOT);
  });
  const { chain, rootsPem, notAfter } = await ask(of);
  assert.equal(chain.length, 2);
  assert.deepEqual([rootsPem, notAfter], [ROOT, NOW + HOUR]);
  const verified = await opensslVerifies(
    [...chain, rootsPem].flatMap((text) => readCertificates(text)).map(({ der }) => der),
    NOW,
  );
  assert.ok(verified.success, verified.text);
  const usages = ["digital signature", "key encipherment", "client auth", "server auth"];
  assert.deepEqual(orders, [{ signer: SIGNER, request: CSR, usages, seconds: 3600 }]);
});

Deno.test("roots that no setting names are taken from the answer; an answer without roots is refused", async () => {
  const answers = (pem: string) => signers(() => Promise.resolve(pem), { roots: () => undefined });
  assert.equal((await ask(answers(GOOD + ROOT))).rootsPem, ROOT);
  await assert.rejects(ask(answers(GOOD)), refused("unusable", /no root came .* certSigners of caCertificates/));
});

Deno.test("answers that do not match the request are refused", async () => {
  const other = await PrivateKey.generate(P256);
  const foreign = await makeRoot(P256, { name: "foreign" });
  const rows: readonly (readonly [string, RegExp])[] = [
    [await leaf(["spiffe://cluster.local/ns/shop/sa/admin"]) + BETWEEN, /expected names .*cart.*, got .*admin/],
    [await leaf([URI, "https://more"]) + BETWEEN, /expected names/],
    [await leaf([URI], other.spki) + BETWEEN, /expected a certificate of the key that was sent/],
    [await leaf([URI]), /is issued by "CN=intermediate", which is not known/],
    [BETWEEN, /expected a certificate of the key/],
    ["", /expected certificates in PEM, got none/],
    ["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", /its answer/],
  ];
  for (const [pem, expected] of rows) {
    await assert.rejects(ask(signers(() => Promise.resolve(pem))), refused("unusable", expected));
  }
  const others = signers(() => Promise.resolve(GOOD + ROOT), { roots: () => writeCertificates([foreign.certificate]) });
  await assert.rejects(ask(others), refused("unusable", /is not known/));
  const late = signers(() => Promise.resolve(GOOD), { clock: createFakeClock(NOW + 2 * HOUR) });
  await assert.rejects(ask(late), refused("unusable", /expired/));
});

/** A request with parts of a sender's choice. */
async function request(subject: Uint8Array, ...attributes: readonly Uint8Array[]): Promise<string> {
  const body = sequence(unsignedInteger(Uint8Array.of(0)), subject, key.spki, tagged(0, ...attributes));
  return writePem("CERTIFICATE REQUEST", sequence(body, key.signatureAlgorithm, bits(await key.sign(body))));
}

Deno.test("requests that ask for more than the proven identity never reach the signer", async () => {
  const made = (names: Parameters<typeof createCertificateRequest>[1], subject = {}) =>
    createCertificateRequest(key, names, subject);
  const uri = sequence(
    objectId("2.5.29.17"),
    octets(sequence(Uint8Array.of(0x86, URI.length, ...new TextEncoder().encode(URI)))),
  );
  const authority = sequence(objectId("2.5.29.19"), octets(sequence(TRUE)));
  const asks = (...extensions: Uint8Array[]) =>
    sequence(objectId("1.2.840.113549.1.9.14"), set(sequence(...extensions)));
  const rows: readonly (readonly [string, RegExp])[] = [
    [await made({ uris: ["spiffe://cluster.local/ns/shop/sa/admin"] }), /names: got .*admin.*expected only .*cart/],
    [await made({ uris: [] }), /names: got \[\]/],
    [await made({ uris: [URI], dns: ["bank.example"] }), /names: got .*bank.example/],
    [await made({ uris: [URI] }, { organization: "system:masters" }), /subject: got "O=system:masters", expected none/],
    [await made({ uris: [URI] }, { commonName: "admin" }), /subject: got "CN=admin"/],
    [await request(sequence(), asks(uri, authority)), /extensions: got 2.5.29.19, expected only alternative names/],
    [
      await request(sequence(), asks(uri), asks(authority)),
      /extensions: got 2.5.29.19|extensions: got 1.2.840.113549.1.9.14/,
    ],
    [
      await request(sequence(), asks(uri), sequence(objectId("1.2.840.113549.1.9.7"), set(octets(Uint8Array.of(1))))),
      /extensions: got 1.2.840.113549.1.9.7/,
    ],
  ];
  const of = signers(() => Promise.reject(new Error("the signer was asked")));
  for (const [csr, expected] of rows) {
    await assert.rejects(ask(of, { request: await readCertificateRequest(csr) }), refused("request", expected));
  }
  const organized = await made({ uris: [URI] }, { organization: "" });
  const istio = signers(() => Promise.resolve(GOOD));
  assert.equal((await ask(istio, { request: await readCertificateRequest(organized) })).chain.length, 2);
});

Deno.test("lifetimes: without a lifetime the usual lifetime is used; too long lifetimes and lifetimes below the API's minimum are refused", async () => {
  const seconds: number[] = [];
  const of = signers((order) => {
    seconds.push(order.seconds);
    return Promise.resolve(GOOD);
  });
  await ask(of, { lifetime: 0 });
  await ask(of, { lifetime: 600_000 });
  assert.deepEqual(seconds, [86_400, 600]);
  await assert.rejects(ask(of, { lifetime: 91 * DAY }), refused("ttl", /expected at most 7776000 s/));
  await assert.rejects(ask(of, { lifetime: 60_000 }), refused("ttl", /got 60 s, expected at least 600 s/));
});

Deno.test("a signer that does not answer ends with the deadline, and with the caller; a place is free again then", async () => {
  const clock = createFakeClock(NOW);
  const reasons: string[] = [];
  const never: SignElsewhere = (_, signal) =>
    new Promise((_, reject) => {
      const end = () => {
        reasons.push((signal.reason as Error).message);
        reject(new IssueError("late", (signal.reason as Error).message));
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    });
  const of = signers(never, { clock, within: 5000 });
  const first = assert.rejects(ask(of), refused("late", /no answer within 5 s/));
  await clock.advance(5000);
  await first;
  const gone = new AbortController();
  const second = assert.rejects(ask(of, { signal: gone.signal }), refused("late", /the caller left/));
  gone.abort(new Error("the caller left"));
  await second;
  assert.deepEqual(reasons, ["no answer within 5 s", "the caller left"]);
  assert.equal(clock.pending(), 0);
});

Deno.test("the requests at one signer, and the signers at a time, are bounded; a hanging signer blocks no other signer, and no caller waits for ever", async () => {
  const clock = createFakeClock(NOW);
  const open = Promise.withResolvers<string>();
  let most = 0, asked = 0;
  const of = signers(({ signer }) => {
    if (signer.endsWith("/quick")) return Promise.resolve(GOOD);
    if (signer === SIGNER) most = Math.max(most, ++asked);
    return open.promise;
  }, { clock, within: 5000 });
  const begin = (signer: string) => ask(of, { signer });
  const slow = Array.from({ length: 100 }, () => begin(""));
  const named = Array.from({ length: 62 }, (_, index) => begin(`other-${index}`));
  await begin("quick");
  named.push(begin("other-62"));
  await assert.rejects(begin("other-63"), QueueFull);
  assert.equal(most, 32);
  const waiting = slow.slice(32).map((each) =>
    assert.rejects(each, refused("late", /other requests wait for the signer already/))
  );
  await clock.advance(5000);
  await Promise.all(waiting);
  open.resolve(GOOD);
  await Promise.all([...slow.slice(0, 32), ...named]);
  await begin("other-63");
});

Deno.test("the server's own certificate is for servers alone, renewed at half of its life and when the roots of the signer change", async () => {
  const clock = createFakeClock(NOW);
  const purposes: string[] = [];
  let roots = ROOT, changed = () => {};
  const of = signers(async ({ request, usages }) => {
    purposes.push(usages.slice(2).join());
    const { spki, names } = await readCertificateRequest(request);
    const times = { notBefore: clock.now() - HOUR, notAfter: clock.now() + 3 * HOUR };
    return certificatePem(await issueLeaf(between, { spki, names, ...times })) + BETWEEN;
  }, {
    ...{ clock, roots: () => roots },
    onRoots: (listener) => {
      changed = listener;
      return () => {};
    },
  });
  const authority = of.server(SIGNER);
  const names = ["meshd.mesh-system.svc"];
  const identity = await OwnIdentity.start({ authority, names, clock, log: silentLog().scope("tls") });
  const next = () => {
    const heard = Promise.withResolvers<string>();
    identity.onChange(({ keyPem }) => heard.resolve(keyPem));
    return heard.promise;
  };
  const [leaf] = readCertificates(identity.current().certificatePem);
  assert.deepEqual([leaf!.names.dns, authority.roots.current()], [names, ROOT]);
  const first = identity.current().keyPem;
  const renewed = next();
  await clock.advance(HOUR);
  assert.notEqual(await renewed, first);
  const other = writeCertificates([(await makeRoot(P256, { name: "other" })).certificate]);
  const again = next();
  roots = ROOT + other;
  changed();
  await again;
  assert.equal(authority.roots.current(), ROOT + other);
  changed();
  await identity.stop();
  assert.deepEqual(purposes, ["server auth", "server auth", "server auth"], "equal roots change nothing");
  assert.equal(clock.pending(), 0);
});

Deno.test("callers name signers of one domain, and no others", () => {
  const names = { usual: SIGNER, domain: "issuers.example.com" };
  assert.equal(signerOf("", names), SIGNER);
  assert.equal(signerOf("shop.vault", names), "issuers.example.com/shop.vault");
  assert.equal(signerOf("issuers.example.com/vault", names), "issuers.example.com/vault");
  const rows: readonly (readonly [string, typeof names, RegExp])[] = [
    [
      "kubernetes.io/kube-apiserver-client",
      names,
      /CertSigner: got .*expected a name of dotted parts, of a signer of issuers/,
    ],
    ["../vault", names, /expected a name of dotted parts/],
    ["Vault", names, /expected a name of dotted parts/],
    ["a/b", names, /expected a name of dotted parts/],
    ["vault", { ...names, domain: "" }, /got "vault", expected none: the server has no CERT_SIGNER_DOMAIN/],
    ["", { ...names, usual: "" }, /the server has no default signer \(ORCH_SIGNER\)/],
  ];
  for (const [wanted, of, expected] of rows) assert.throws(() => signerOf(wanted, of), refused("request", expected));
  assert.deepEqual(
    [SIGNER, "mesh", "example.com", "a/b", "example.com/", "/a", "example.com/a/b", "ex_a.com/a"].filter(isSignerName),
    [SIGNER],
  );
  assert.deepEqual(["example.com", "com", "", "example.com/", "-a.b"].filter(isSignerDomain), ["example.com"]);
});
