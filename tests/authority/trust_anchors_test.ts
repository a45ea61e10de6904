/** Roots of the mesh configuration: written, or read at bundle endpoints again and again. */
import assert from "node:assert/strict";
import { readSpiffeBundle } from "../../lib/authority/spiffe_bundle.ts";
import { anchorsOf, type AnchorSource, TrustAnchors } from "../../lib/authority/trust_anchors.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { readCertificates, writeCertificates } from "../../lib/pki/certificate.ts";
import { makeLeaf, makeRoot } from "../pki/support/make.ts";

const [one, two] = [await makeRoot(undefined, { name: "one" }), await makeRoot(undefined, { name: "two" })];
const leaf = await makeLeaf(one);
const MINUTE = 60_000;

function bundle(roots: readonly { readonly certificate: { readonly der: Uint8Array } }[], hint?: number): string {
  const keys = roots.map(({ certificate }) => ({ kty: "EC", use: "x509-svid", x5c: [certificate.der.toBase64()] }));
  const tokens = { kty: "EC", use: "jwt-svid", kid: "x" };
  return JSON.stringify({ keys: [...keys, tokens], ...(hint === undefined ? {} : { spiffe_refresh_hint: hint }) });
}

const namesOf = (pem: readonly string[]) => pem.map((text) => readCertificates(text)[0]?.commonName);

/** Anchors with endpoints under the test's control; a rejected promise is an endpoint that is away. */
function anchors(answer: (url: string) => string) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const all = new TrustAnchors({
    ...{ clock, log: silentLog().scope("trustBundle") },
    fetchBundle: (url) => {
      asked.push(url);
      return Promise.resolve().then(() => answer(url));
    },
  });
  return { all, clock, asked, names: () => namesOf(all.all.current().map(({ pem }) => pem)) };
}

Deno.test("a bundle gives its roots and the time of the next read", () => {
  const { roots, refreshAfter } = readSpiffeBundle(bundle([one, two], 300));
  assert.deepEqual([namesOf(roots), refreshAfter], [["one", "two"], 300_000]);
});

Deno.test("a text that is not a bundle is refused with the expectation", () => {
  const key = (x5c: readonly string[]) => JSON.stringify({ keys: [{ use: "x509-svid", x5c }] });
  const refused: Readonly<Record<string, RegExp>> = {
    "<html>": /not JSON/,
    "[]": /expected a SPIFFE bundle/,
    "{}": /keys: .*expected a list of keys/,
    '{"keys":[]}': /expected a key for certificates/,
    [key([])]: /keys\[0\]\.x5c: expected exactly one certificate, got 0/,
    [key(["AAAA"])]: /keys\[0\]\.x5c\[0\]/,
    [key(["*"])]: /expected base64/,
    [bundle([leaf])]: /expected a certificate of an authority/,
    [bundle([one], "soon" as unknown as number)]: /spiffe_refresh_hint/,
  };
  for (const [text, reason] of Object.entries(refused)) assert.throws(() => readSpiffeBundle(text), reason, text);
});

Deno.test("an endpoint is read at once, then as often as its bundle says, within a minute and half an hour", async () => {
  for (const [hint, minutes] of [[undefined, 30], [300, 5], [1, 1], [1e9, 30]] as const) {
    let roots = [one];
    const { all, clock, asked, names } = anchors(() => bundle(roots, hint));
    all.use([{ spiffeBundleUrl: "https://partner.example/bundle" }]);
    await clock.advance(0);
    assert.deepEqual(names(), ["one"]);
    roots = [two];
    await clock.advance(minutes * MINUTE - 1);
    assert.equal(asked.length, 1);
    await clock.advance(1);
    assert.deepEqual([asked.length, names()], [2, ["two"]]);
    all.stop();
    assert.equal(clock.pending(), 0);
  }
});

Deno.test("roots stay while their endpoint gives no answer or a wrong answer, and the endpoint is asked less and less often", async () => {
  let text: string | undefined = bundle([one], 60);
  const { all, clock, asked, names } = anchors(() => {
    if (text === undefined) throw new Error("connection refused");
    return text;
  });
  all.use([{ spiffeBundleUrl: "https://partner.example/bundle" }]);
  await clock.advance(0);
  for (const broken of [undefined, "<html>"]) {
    text = broken;
    await clock.advance(120 * MINUTE);
    assert.deepEqual(names(), ["one"]);
  }
  assert.ok(asked.length < 30, `${asked.length} requests in four hours`);
  text = bundle([two]);
  await clock.advance(30 * MINUTE);
  assert.deepEqual(names(), ["two"]);
  all.stop();
});

Deno.test("listeners are called only for changed roots; an endpoint that is no longer named is not asked again", async () => {
  const { all, clock, asked, names } = anchors((url) => bundle([url.endsWith("1") ? one : two], 60));
  let heard = 0;
  all.all.onChange(() => heard++);
  const [first, second]: AnchorSource[] = [{ spiffeBundleUrl: "https://x/1" }, { spiffeBundleUrl: "https://x/2" }];
  all.use([first!, second!]);
  await clock.advance(10 * MINUTE);
  assert.deepEqual([names(), heard], [["one", "two"], 2]);
  const before = asked.length;
  all.use([{ pem: writeCertificates([two.certificate, one.certificate]) }, second!]);
  assert.deepEqual(names(), ["two", "one", "two"]);
  await clock.advance(10 * MINUTE);
  assert.deepEqual(new Set(asked.slice(before)), new Set(["https://x/2"]));
  all.stop();
});

Deno.test("roots are for the trust domains that they name, and without names for the mesh's own", () => {
  const all = [
    ...[{ pem: "own", trustDomains: [] }, { pem: "alias", trustDomains: ["partner.example", "old.example"] }],
    { pem: "partner", trustDomains: ["partner.example"] },
  ];
  assert.deepEqual(anchorsOf(all, ["cluster.local", "old.example"]), ["own", "alias"]);
  assert.deepEqual(anchorsOf(all, ["cluster.local"]), ["own"]);
});
