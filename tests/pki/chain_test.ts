import assert from "node:assert/strict";
import fc from "fast-check";
import type { Certificate } from "../../lib/pki/certificate.ts";
import { type ChainOptions, verifyChain } from "../../lib/pki/chain.ts";
import { renewalTime } from "../../lib/pki/renewal.ts";
import { CurrentValue } from "../../lib/pki/current.ts";
import { DAY, HOUR, makeIntermediate, makeLeaf, makeRoot, NOW, P256 } from "./support/make.ts";

const root = await makeRoot();
const between = await makeIntermediate(root);
const leaf = await makeLeaf(between);

function verify(certificate: Certificate, options: Partial<ChainOptions> = {}) {
  const result = verifyChain(certificate, {
    ...{ intermediates: [between.certificate], roots: [root.certificate], now: NOW },
    ...options,
  });
  return "chain" in result ? result.chain.map(({ subject }) => subject) : result.reason;
}

Deno.test("a chain is found over certificates in any order, among several roots", async () => {
  const other = await makeRoot();
  const options = {
    roots: [other.certificate, root.certificate],
    intermediates: [leaf, between].map((c) => c.certificate),
  };
  assert.deepEqual(verify(leaf.certificate, options), ["", "CN=intermediate", "O=cluster.local, CN=root"]);
});

Deno.test("an intermediate that is trusted itself ends a chain", () => {
  assert.deepEqual(verify(leaf.certificate, { roots: [between.certificate], intermediates: [] }), [
    "",
    "CN=intermediate",
  ]);
});

Deno.test("a chain that does not hold is refused with its reason", async () => {
  const stranger = await makeRoot();
  const strict = await makeIntermediate(root, P256, { pathLength: 0 });
  const tooDeep = await makeIntermediate(strict, P256, { name: "deep" });
  const below = await makeLeaf(tooDeep);
  const ofLeaf = await makeLeaf({ key: leaf.key, certificate: leaf.certificate });
  const shortLived = await makeIntermediate(root, P256, { notAfter: NOW - HOUR });
  const outlives = await makeLeaf(shortLived);
  const cases: readonly (readonly [string, string | readonly string[], RegExp])[] = [
    ["expired", verify(leaf.certificate, { now: NOW + 2 * DAY }), /cart" expired at 2026-01-02T/],
    [
      "not yet valid",
      verify(leaf.certificate, { now: NOW - 2 * HOUR }),
      /cart" is not valid before 2025-12-31T23/,
    ],
    [
      "no intermediate",
      verify(leaf.certificate, { intermediates: [] }),
      /issued by "CN=intermediate", which is not known/,
    ],
    [
      "no roots",
      verify(leaf.certificate, { roots: [] }),
      /issued by "O=cluster.local, CN=root", which is not known/,
    ],
    [
      "another root of that name",
      verify(leaf.certificate, { roots: [stranger.certificate] }),
      /root" has another key than the certificate below it names as its issuer's/,
    ],
    [
      "another root of that name that claims to have the key",
      verify(leaf.certificate, {
        roots: [{ ...stranger.certificate, subjectKeyId: root.certificate.subjectKeyId! }],
      }),
      /is not signed by the key of/,
    ],
    [
      "too many authorities",
      verify(below.certificate, { intermediates: [strict.certificate, tooDeep.certificate] }),
      /allows 0 authorities below it, got 1/,
    ],
    [
      "a leaf as issuer",
      verify(ofLeaf.certificate, { intermediates: [between.certificate, leaf.certificate] }),
      /is not an authority/,
    ],
    [
      "an expired issuer",
      verify(outlives.certificate, { intermediates: [shortLived.certificate] }),
      /intermediate" expired/,
    ],
  ];
  for (const [what, result, reason] of cases) {
    assert.equal(typeof result, "string", what);
    assert.match(result as string, reason, what);
  }
});

Deno.test("signatures that somebody else has verified are verified again where names leave several ways", async () => {
  // The key of an authority without the right to sign certificates, and a certificate that its owner can still write.
  const weak = await makeIntermediate(root);
  const mayNotSign: Certificate = {
    ...weak.certificate,
    keyUsage: { ...weak.certificate.keyUsage!, signCertificates: false },
  };
  const forged = { ...weak.certificate, signature: new Uint8Array(weak.certificate.signature).fill(1) };
  const below = await makeLeaf(weak);
  const proven = (intermediates: readonly Certificate[]) =>
    verify(below.certificate, { intermediates, signaturesProven: true });
  assert.ok(Array.isArray(proven([weak.certificate])), "one way: it is the one that was verified");
  assert.match(String(proven([mayNotSign])), /may not sign certificates/);
  assert.match(String(proven([forged, mayNotSign])), /may not sign certificates|is not signed by/);
  assert.match(String(proven([mayNotSign, forged])), /may not sign certificates|is not signed by/);
  const renewed = await makeRoot();
  const twice = { roots: [root.certificate, { ...renewed.certificate, spki: root.certificate.spki }] };
  const result = verify(leaf.certificate, { ...twice, signaturesProven: true });
  assert.ok(Array.isArray(result), "two roots with one key are one way");
});

Deno.test("the uses of a leaf are checked if the leaf restricts its uses", () => {
  assert.ok(Array.isArray(verify(leaf.certificate, { purpose: "client" })));
  const only: Certificate = { ...leaf.certificate, purposes: ["1.3.6.1.5.5.7.3.1"] };
  assert.match(String(verify(only, { purpose: "client" })), /is not for clients/);
  const strange: Certificate = { ...leaf.certificate, unknownCritical: ["1.2.3"] };
  assert.match(String(verify(strange)), /has the critical extension 1\.2\.3, which is not known here/);
});

Deno.test("many authorities of one name and authorities that sign each other cost a bounded number of signatures", async () => {
  const strangers = await Promise.all(Array.from({ length: 200 }, () => makeIntermediate(root)));
  const intermediates = strangers.map(({ certificate }) => certificate);
  assert.equal(typeof verify(leaf.certificate, { intermediates }), "string");
});

Deno.test("a certificate is renewed within its lifetime, the ratio of it before its end, give or take the jitter", () => {
  assert.equal(renewalTime({ notBefore: 0, notAfter: 100 }, { graceRatio: 0.2 }), 80);
  assert.equal(renewalTime({ notBefore: 0, notAfter: 100 }, { graceRatio: 0.2, jitter: 0.1, random: () => 0 }), 90);
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(fc.property(fc.nat(), fc.nat(), unit, unit, unit, (notBefore, lifetime, graceRatio, jitter, random) => {
    const notAfter = notBefore + lifetime;
    const at = renewalTime({ notBefore, notAfter }, { graceRatio, jitter, random: () => random });
    assert.ok(at >= notBefore && at <= notAfter);
    assert.ok(Math.abs(notAfter - at - graceRatio * lifetime) <= jitter * lifetime + 1e-6 * notAfter);
  }));
});

Deno.test("who listens to a value hears of each new one until it stops listening", () => {
  const value = new CurrentValue(1);
  const heard: number[] = [];
  const stop = value.onChange((next) => heard.push(next));
  value.set(2);
  stop();
  value.set(3);
  assert.deepEqual([heard, value.current()], [[2], 3]);
});
