/** Keys, certificates and lists with inner damage: what the server sends, and the verdict of a real Envoy. */
import assert from "node:assert/strict";
import { judgeTrust } from "../../lib/config/facts/credential.ts";
import { ConcealedBytes } from "../../lib/config/facts/concealed.ts";
import { authoritiesSecret, certificateSecret } from "../../lib/discovery/credentials/envoy_secret.ts";
import { openssl } from "../certificates.ts";
import { ChainMaker } from "../pki/support/chain_maker.ts";
import { block, derOf, envoy, factOf, inline, refusalOf, run } from "./support/credential_verdicts.ts";

const CA = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n";
const LEAF = "subjectAltName=DNS:a.test\n";

/** A certificate with its key, and whether Envoy loads both. */
type Row = readonly [what: string, envoy: "loads" | "refuses", certificate: string, key: string];

/** Bytes with one sequence replaced, given as hexadecimal digits. */
function replaced(der: Uint8Array, from: string | RegExp, to: string): Uint8Array {
  const hex = der.toHex();
  const changed = hex.replace(from, to);
  assert.notEqual(changed, hex, `no ${from} in ${hex}`);
  return Uint8Array.fromHex(changed);
}

async function ofType(...args: string[]): Promise<readonly [chain: string, key: string]> {
  const key = await run(["genpkey", ...args]);
  return [await run(["req", "-x509", "-new", "-key", "/dev/stdin", "-subj", "/CN=a"], key), key];
}

/** Rows about keys: one byte changed, a form that contradicts the label, unknown kinds. */
async function keyRows(maker: ChainMaker, chain: string): Promise<Row[]> {
  const key = await maker.key("leaf");
  const der = derOf(key);
  const [first, last] = [der.slice(), der.slice()];
  first[40]! ^= 1;
  last[last.length - 1]! ^= 1;
  const sec1 = await run(["ec"], key);
  const curve = (name: string, ...more: string[]) =>
    ofType("-algorithm", "EC", "-pkeyopt", `ec_paramgen_curve:${name}`, ...more);
  const [rsaChain, rsaKey] = await ofType("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048");
  const pkcs1 = await run(["rsa", "-traditional"], rsaKey);
  const damaged = derOf(pkcs1).slice();
  damaged[400]! ^= 1;
  return [
    ["a key whose number has another bit", "refuses", chain, block("PRIVATE KEY", first)],
    ["a key whose public half has another bit", "refuses", chain, block("PRIVATE KEY", last)],
    ["a key without its contents", "refuses", chain, block("PRIVATE KEY", Uint8Array.fromHex("3003020100"))],
    ["a key with a byte behind it", "loads", chain, block("PRIVATE KEY", Uint8Array.from([...der, 0]))],
    ["an RSA key with another bit", "refuses", rsaChain, block("RSA PRIVATE KEY", damaged)],
    [
      "a key of an unknown sort",
      "refuses",
      chain,
      block("PRIVATE KEY", replaced(der, "2a8648ce3d0201", "2a8648ce3d0209")),
    ],
    ["PKCS#8 of an EC key, as an RSA key", "refuses", chain, block("RSA PRIVATE KEY", der)],
    ["PKCS#8 of an EC key, as an EC key", "loads", chain, block("EC PRIVATE KEY", der)],
    ["SEC 1 as PKCS#8", "refuses", chain, block("PRIVATE KEY", derOf(sec1))],
    ["PKCS#1 as PKCS#8", "refuses", rsaChain, block("PRIVATE KEY", derOf(pkcs1))],
    ["PKCS#1", "loads", rsaChain, pkcs1],
    ["SEC 1", "loads", chain, sec1],
    ["SEC 1 without the public half", "loads", chain, await run(["ec", "-no_public"], key)],
    ["SEC 1 behind its parameters", "loads", chain, `${block("EC PARAMETERS", "BggqhkjOPQMBBw==")}${sec1}`],
    ["Ed25519", "loads", ...await ofType("-algorithm", "ED25519")],
    ["Ed448", "refuses", ...await ofType("-algorithm", "ED448")],
    ["RSA-PSS", "refuses", ...await ofType("-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048")],
    ["a curve of Brainpool", "refuses", ...await curve("brainpoolP256r1")],
    ["P-224", "refuses", ...await curve("P-224")],
    ["a curve that is described", "refuses", ...await curve("P-256", "-pkeyopt", "ec_param_enc:explicit")],
  ];
}

/** Rows about certificates, most with one element changed: signatures are not verified on loading. */
async function certificateRows(maker: ChainMaker, leaf: string, between: string): Promise<Row[]> {
  const key = await maker.key("leaf");
  const der = derOf(leaf);
  const row = (
    what: string,
    verdict: Row[1],
    changed: Uint8Array,
  ): Row => [what, verdict, block("CERTIFICATE", changed), key];
  const usage = async (text: string) => (await maker.make({ root: CA, between: CA, leaf: `${LEAF}${text}\n` })).leaf;
  const trusted = await run(["x509", "-trustout", "-addtrust", "serverAuth"], leaf);
  return [
    row("a byte behind the certificate", "refuses", Uint8Array.from([...der, 0])),
    row("two certificates in one block", "refuses", Uint8Array.from([...der, ...derOf(between)])),
    row("version 4", "refuses", replaced(der, "a003020102", "a003020103")),
    row("a serial number with a zero before it", "refuses", replaced(der, "02021234", "02020034")),
    row("the end on February 30", "refuses", replaced(der, /170d(....)......../, "170d$130323330")),
    ["a key usage that is none", "refuses", await usage("2.5.29.15=DER:0500"), key],
    ["a key usage without signatures", "refuses", await usage("keyUsage=critical,keyEncipherment"), key],
    ["names that are none", "loads", await usage("2.5.29.18=DER:0500"), key],
    [
      "bytes behind the second certificate",
      "loads",
      leaf + block("CERTIFICATE", Uint8Array.from([...derOf(between), 1])),
      key,
    ],
    ["openssl's own form", "loads", trusted, key],
    ["a critical extension that nobody knows", "loads", await usage("1.2.3.4=critical,DER:0500"), key],
  ];
}

Deno.test({
  name: "a key or a certificate that is damaged inside is not sent exactly where a real Envoy does not load it",
  ignore: envoy === undefined || !openssl,
  async fn(t) {
    await using maker = await ChainMaker.open();
    const { between, leaf } = await maker.make({ root: CA, between: CA, leaf: LEAF });
    const rows = [...await keyRows(maker, leaf + between), ...await certificateRows(maker, leaf, between)];
    for (const [what, verdict, certificate, key] of rows) {
      await t.step(what, async () => {
        const made = certificateSecret("x", factOf({ "tls.crt": certificate, "tls.key": key }));
        const pair = { certificate_chain: inline(certificate), private_key: inline(key) };
        const refusal = await refusalOf({ tls_certificates: [pair] });
        assert.equal(refusal === "", verdict === "loads", `Envoy: ${refusal}`);
        assert.equal("secret" in made, verdict === "loads", "why" in made ? made.why : "it is sent");
        if ("why" in made) assert.match(made.why, /cannot be used: its (?:certificate|key) has/);
      });
    }
  },
});

const concealed = (text: string) => new ConcealedBytes(new TextEncoder().encode(text));

Deno.test({
  name: "a list of revoked certificates by another key, or of a kind that proxies do not know, is not sent",
  ignore: !openssl,
  async fn() {
    await using maker = await ChainMaker.open();
    const { root } = await maker.make({ root: CA, between: CA, leaf: LEAF });
    const list = derOf(await maker.revocationList("root"));
    const forged = list.slice();
    forged[forged.length - 3]! ^= 1;
    const why = (der: Uint8Array) => judgeTrust(concealed(root), concealed(block("X509 CRL", der)));
    assert.equal(why(list)?.problem, undefined);
    assert.deepEqual(why(forged), {
      problem: "lists",
      why: 'has a list of "CN=root" that is not signed by its key',
    });
    const partial = derOf(await maker.revocationList("root", "2.5.29.27=critical,DER:020101"));
    assert.deepEqual(why(partial), {
      problem: "lists",
      why: "has a list with the critical extension 2.5.29.27, which proxies do not know",
    });
  },
});

Deno.test({
  name: "an authority that proxies pass over is said, wherever it stands in its text",
  ignore: !openssl,
  async fn() {
    await using maker = await ChainMaker.open();
    const { root, between } = await maker.make({ root: CA, between: CA, leaf: LEAF });
    const passedOver = (text: string) => {
      const verdict = judgeTrust(concealed(text), undefined);
      assert.ok(verdict !== undefined && verdict.problem === undefined);
      return verdict.passedOver;
    };
    for (
      const text of [
        root + between,
        `roots\n${root}# more\n${between}`,
        root.replaceAll("BEGIN ", "BEGIN X509 ").replaceAll("END ", "END X509 "),
      ]
    ) {
      assert.equal(passedOver(text), undefined);
    }
    const oneLine = `${root.trimEnd().replaceAll("\n", "\\n")}\n`;
    for (
      const text of [
        `\ufeff${root}${between}`,
        `  ${root}${between}`,
        `${root}x${between}`,
        oneLine + between,
        root + between.toLowerCase(),
      ]
    ) {
      assert.match(passedOver(text) ?? "", /^has 1 more that are passed over/);
    }
  },
});

Deno.test({
  name: "a private key beside a certificate or beside authorities is not sent with them",
  ignore: !openssl,
  async fn() {
    await using maker = await ChainMaker.open();
    const { root, leaf } = await maker.make({ root: CA, between: CA, leaf: LEAF });
    const [key, other] = [await maker.key("leaf"), await run(["ec"], await maker.key("root"))];
    const text = (bytes: unknown) => new TextDecoder().decode(bytes as Uint8Array);
    const pair = certificateSecret("x", factOf({ "tls.crt": key + leaf + other, "tls.key": key }));
    assert.ok("secret" in pair);
    const { certificate_chain, private_key } = pair.secret.tls_certificate!;
    assert.equal(text(certificate_chain!.inline_bytes), `\n${leaf}\n`);
    assert.equal(text(private_key!.inline_bytes), key);
    for (const data of [{ "ca.crt": root + key }, { cacert: root + key }]) {
      const trust = authoritiesSecret("x", factOf(data));
      assert.ok("secret" in trust);
      assert.equal(text(trust.secret.validation_context!.trusted_ca!.inline_bytes), `${root}\n`);
    }
  },
});
