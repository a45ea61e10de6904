/**
 * Broken certificates, keys, authorities and lists, made by openssl: what the server sends, and the verdict of a real
 * Envoy.
 */
import assert from "node:assert/strict";
import { authoritiesSecret, certificateSecret } from "../../lib/discovery/credentials/envoy_secret.ts";
import { openssl } from "../certificates.ts";
import { ChainMaker } from "../pki/support/chain_maker.ts";
import { block, envoy, factOf, inline, refusalOf, type Row, run } from "./support/credential_verdicts.ts";

const CA = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n";
const LEAF = "subjectAltName=DNS:a.test\n";

/** Rows about a certificate and its key, and rows about authorities and lists. */
async function rows(maker: ChainMaker): Promise<{ readonly pairs: Row[]; readonly trusts: Row[] }> {
  const { root, between, leaf } = await maker.make({ root: CA, between: CA, leaf: LEAF });
  const [key, other] = [await maker.key("leaf"), await maker.key("root")];
  const chain = leaf + between;
  const encrypted = { older: await maker.key("leaf", "older"), newer: await maker.key("leaf", "newer") };
  const agreement = await maker.make({ root: CA, between: CA, leaf: `${LEAF}keyUsage=critical,keyAgreement\n` });
  const expired = await maker.make({ root: CA, between: CA, leaf: LEAF, daysLeaf: -1 });
  const ofType = async (...args: string[]) => {
    const made = await run(["genpkey", ...args]);
    return { key: made, chain: await run(["req", "-x509", "-new", "-key", "/dev/stdin", "-subj", "/CN=a"], made) };
  };
  const [small, rsa, p521, k1] = await Promise.all([
    ofType("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"),
    ofType("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"),
    ofType("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"),
    ofType("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"),
  ]);
  const pair = (what: string, kind: Row["envoy"], crt: string | Uint8Array, own = key, why = /cannot be used/): Row => (
    { what, envoy: kind, why, data: { "tls.crt": crt, "tls.key": own } }
  );
  const lines = (text: string, ending: string) => text.replaceAll("\n", ending);
  const bom = (text: string) => Uint8Array.from([0xef, 0xbb, 0xbf, ...new TextEncoder().encode(text)]);
  const body = (text: string) => text.split("\n").slice(1, -2).join("");
  const pairs: Row[] = [
    pair("in order", "loads", chain),
    pair("line ends of Windows", "loads", lines(chain, "\r\n"), lines(key, "\r\n")),
    pair(
      "attributes before the blocks",
      "loads",
      `Bag Attributes\n    friendlyName: x\n${chain}`,
      `Key Attributes: <No>\n${key}`,
    ),
    pair("spaces behind the lines", "loads", lines(chain, "  \n")),
    pair("the key beside the chain, too", "loads", chain + key),
    pair("base64 in one long line", "loads", block("CERTIFICATE", body(leaf))),
    pair("base64 in lines of 76", "loads", block("CERTIFICATE", body(leaf).replaceAll(/.{76}/g, "$&\n"))),
    pair("an expired certificate", "loads", expired.leaf + expired.between),
    pair("RSA of 2048 bits", "loads", rsa.chain, rsa.key),
    pair("ECDSA on P-521", "loads", p521.chain, p521.key),
    pair("without a line feed at the end", "loads", chain.trimEnd()),
    pair("text behind the blocks", "loads", `${chain}more\n`),
    pair(
      "END and BEGIN on one line",
      "refuses",
      leaf.trimEnd() + between,
      key,
      /certificate has text behind an END line/,
    ),
    pair("a byte order mark", "refuses", bom(leaf), key, /certificate has a byte order mark before a BEGIN line/),
    pair("spaces before BEGIN", "refuses", `  ${leaf}`, key, /certificate has text before a BEGIN line/),
    pair("no PEM", "refuses", "nothing", key, /its certificate has no block CERTIFICATE/),
    pair("cut off", "refuses", leaf.slice(0, -40), key, /without its END line/),
    pair("the second one cut off", "refuses", leaf + between.slice(0, -40)),
    pair("no base64", "refuses", leaf.replace(/\n..../, "\n!!!!"), key, /not base64/),
    pair("base64 of something else", "refuses", block("CERTIFICATE", "AAAA"), key, /not a certificate/),
    pair("a blank line before END", "refuses", leaf.replace("-----END", "\n-----END")),
    pair("a blank line in the middle", "refuses", leaf.replace(/^(.*\n.*\n.*\n)/, "$1\n")),
    pair("the leaf last", "refuses", between + leaf, key, /certificate 2 of the chain/),
    pair("the key of another certificate", "refuses", chain, other, /its key is of another certificate/),
    pair("an encrypted key", "refuses", chain, encrypted.newer, /its key is encrypted/),
    pair("an encrypted key of older tools", "refuses", chain, encrypted.older, /its key is encrypted/),
    pair(
      "a key that is none",
      "refuses",
      chain,
      block("PRIVATE KEY", "AAAA"),
      /its key has a block PRIVATE KEY that is not a key/,
    ),
    pair("a key with spaces before BEGIN", "refuses", chain, ` ${key}`, /its key has text before a BEGIN line/),
    pair("a public key", "refuses", chain, block("PUBLIC KEY", "AAAA"), /its key has no block of a private key/),
    pair("RSA of 1024 bits", "refuses", small.chain, small.key, /1024 bits/),
    pair(
      "ECDSA on another curve",
      "refuses",
      k1.chain,
      k1.key,
      /on a curve that proxies do not know \(1\.3\.132\.0\.10\)/,
    ),
    pair("ECDSA that may not sign", "refuses", agreement.leaf, key, /not for digital signatures/),
    {
      ...pair("a response about nothing", "loads", chain),
      data: { "tls.crt": chain, "tls.key": key, "tls.ocsp-staple": "x" },
    },
  ];
  const [list, foreign] = [await maker.revocationList("root"), await maker.revocationList("between")];
  const trust = (what: string, kind: Row["envoy"], data: Row["data"], why = /cannot be used/): Row => ({
    what,
    envoy: kind,
    why,
    data,
  });
  const trusts: Row[] = [
    trust("authorities", "loads", { "ca.crt": root }),
    trust("with a list", "loads", { "ca.crt": root, "ca.crl": list }),
    trust("an empty list of lists", "loads", { "ca.crt": root, "ca.crl": "" }),
    trust("several, beside text", "loads", { "ca.crt": `roots\n${root}${between}` }),
    trust("PEM of nothing", "refuses", { "ca.crt": block("CERTIFICATE", "AAAA") }, /text of authorities has a block/),
    trust("no PEM", "refuses", { "ca.crt": "nothing" }, /text of authorities has no block CERTIFICATE/),
    trust("glued", "refuses", { "ca.crt": root.trimEnd() + between }, /text behind an END line/),
    trust("a byte order mark", "refuses", { "ca.crt": bom(root) }, /byte order mark/),
    trust("the second one broken", "refuses", { "ca.crt": root + block("CERTIFICATE", "AAAA") }),
    trust(
      "a list that is none",
      "closed",
      { "ca.crt": root, "ca.crl": "nothing" },
      /list of revoked certificates has no block X509 CRL/,
    ),
    trust("a broken list", "refuses", { "ca.crt": root, "ca.crl": block("X509 CRL", "AAAA") }, /a block X509 CRL/),
    trust("a list of another authority", "closed", { "ca.crt": root, "ca.crl": foreign }, /"CN=between", and of none/),
  ];
  return { pairs, trusts };
}

Deno.test({
  name: "what a real Envoy does not load, or lets nobody in with, is not sent, with the reason; all else is",
  ignore: envoy === undefined || !openssl,
  async fn(t) {
    await using maker = await ChainMaker.open();
    const { pairs, trusts } = await rows(maker);
    const { leaf } = await maker.make({ root: CA, between: CA, leaf: LEAF });
    const own = { certificate_chain: inline(leaf), private_key: inline(await maker.key("leaf")) };
    const check = async (row: Row, context: object, made: ReturnType<typeof certificateSecret>) => {
      const refusal = await refusalOf(context);
      assert.equal(refusal === "", row.envoy !== "refuses", `Envoy: ${refusal}`);
      const why = "why" in made ? made.why : "";
      assert.equal(why === "", row.envoy === "loads", `ours: ${why}`);
      if (why !== "") assert.match(why, row.why ?? /^$/);
    };
    for (const row of pairs) {
      await t.step(`certificate and key: ${row.what}`, async () => {
        const made = certificateSecret("x", factOf(row.data));
        if ("secret" in made) assert.equal(made.secret.tls_certificate?.ocsp_staple, undefined);
        const { "tls.crt": crt, "tls.key": key } = row.data;
        await check(row, { tls_certificates: [{ certificate_chain: inline(crt), private_key: inline(key) }] }, made);
      });
    }
    for (const row of trusts) {
      await t.step(`authorities: ${row.what}`, async () => {
        const { "ca.crt": trusted, "ca.crl": crl } = row.data;
        const context = { trusted_ca: inline(trusted), ...(crl?.length ? { crl: inline(crl) } : {}) };
        await check(
          row,
          { tls_certificates: [own], validation_context: context },
          authoritiesSecret("x", factOf(row.data)),
        );
      });
    }
  },
});
