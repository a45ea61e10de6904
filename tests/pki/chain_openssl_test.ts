/** Chains made by openssl, with one extension changed in each: our verdict is held to the verdict of openssl. */
import assert from "node:assert/strict";
import { readCertificates } from "../../lib/pki/certificate.ts";
import { verifyChain } from "../../lib/pki/chain.ts";
import type { Purpose } from "../../lib/pki/chain_rules.ts";
import { openssl as hasOpenssl } from "../certificates.ts";
import { ChainMaker, type MadeChain } from "./support/chain_maker.ts";

/** A chain: the difference from an accepted chain, and the verdicts. */
interface Row {
  /** The extension, or another change. */
  readonly extension: string;
  readonly rule: string;
  readonly openssl: "takes" | "refuses";
  /** Of a refusal, ours. */
  readonly reason?: RegExp;
  readonly chain: Partial<MadeChain>;
  /** Default: for clients and for servers alike. */
  readonly purpose?: Purpose;
}

const CA = "basicConstraints=critical,CA:TRUE\n";
const SIGNS = "keyUsage=critical,keyCertSign,cRLSign\n";
const LEAF = "basicConstraints=critical,CA:FALSE\n";
const NAMES = "subjectAltName=URI:spiffe://cluster.local/ns/a/sa/b,DNS:a.example.com,IP:10.0.0.1,email:a@example.com\n";

/** An authority with name constraints. */
const constrained = (constraints: string, more = "") => CA + SIGNS + `nameConstraints=critical,${constraints}\n${more}`;
/** A row about name constraints. */
const names = (
  rule: string,
  openssl: Row["openssl"],
  constraints: string,
  more: Partial<MadeChain> = {},
): Row => ({
  ...{ extension: "nameConstraints", rule, openssl, reason: /name constraints/ },
  chain: { between: constrained(constraints), ...more },
});

const TABLE: readonly Row[] = [
  { extension: "none", rule: "a chain that is in order is taken", openssl: "takes", chain: {} },
  ...([
    ["the authority between may sign certificates", "takes", "keyUsage=critical,keyCertSign\n"],
    ["without a key usage it may, too", "takes", ""],
    ["with digital signatures alone it may not", "refuses", "keyUsage=critical,digitalSignature\n"],
    ["with revocation lists alone it may not", "refuses", "keyUsage=cRLSign\n"],
  ] as const).map(([rule, openssl, usage]): Row => (
    { extension: "keyUsage", rule, openssl, reason: /may not sign certificates/, chain: { between: CA + usage } }
  )),
  {
    ...{ extension: "keyUsage", rule: "the root may sign certificates, as the others", openssl: "refuses" },
    ...{ reason: /may not sign certificates/, chain: { root: CA + "keyUsage=critical,cRLSign\n" } },
  },
  {
    ...{
      extension: "basicConstraints",
      rule: "an authority says so",
      openssl: "refuses",
      reason: /is not an authority/,
    },
    chain: { between: "basicConstraints=critical,CA:FALSE\nkeyUsage=keyCertSign\n" },
  },
  {
    ...{ extension: "basicConstraints", rule: "one without them is none", openssl: "refuses" },
    ...{ reason: /is not an authority/, chain: { between: "keyUsage=digitalSignature\n" } },
  },
  {
    ...{ extension: "basicConstraints", rule: "one without them is none, though its key may sign", openssl: "refuses" },
    ...{ reason: /is not an authority/, chain: { between: SIGNS } },
  },
  {
    ...{
      extension: "version",
      rule: "a root of version 1 cannot say so, and is trusted all the same",
      openssl: "takes",
    },
    chain: { root: "version 1" },
  },
  {
    ...{ extension: "version", rule: "one of version 1 between is none", openssl: "refuses" },
    ...{ reason: /is not an authority/, chain: { between: "version 1" } },
  },
  {
    ...{ extension: "pathlen", rule: "no authority stands below one of length 0", openssl: "refuses" },
    ...{
      reason: /allows 0 authorities below it, got 1/,
      chain: { root: CA.replace("TRUE", "TRUE,pathlen:0") + SIGNS },
    },
  },
  {
    ...{ extension: "pathlen", rule: "one may stand below one of length 1", openssl: "takes" },
    chain: { root: CA.replace("TRUE", "TRUE,pathlen:1") + SIGNS },
  },
  ...([
    ["client", "takes", "digitalSignature"],
    ["client", "takes", "keyAgreement"],
    ["client", "refuses", "keyEncipherment"],
    ["client", "refuses", "nonRepudiation"],
    ["client", "refuses", "keyCertSign"],
    ["server", "takes", "digitalSignature"],
    ["server", "takes", "keyAgreement"],
    ["server", "takes", "keyEncipherment"],
    ["server", "refuses", "dataEncipherment"],
  ] as const).map(([purpose, openssl, usage]): Row => ({
    ...{ extension: "keyUsage", rule: `a ${purpose} whose key is for ${usage} alone`, openssl, purpose },
    ...{ reason: /not for digital signatures/, chain: { leaf: `${LEAF}${NAMES}keyUsage=critical,${usage}\n` } },
  })),
  ...([
    ["client", "takes", "clientAuth"],
    ["client", "refuses", "serverAuth"],
    ["client", "refuses", "codeSigning"],
    ["client", "refuses", "anyExtendedKeyUsage"],
    ["server", "takes", "clientAuth,serverAuth"],
    ["server", "refuses", "clientAuth"],
  ] as const).flatMap(([purpose, openssl, usage]): Row[] => {
    const row = { extension: "extendedKeyUsage", openssl, purpose, reason: /is not for/ } as const;
    const text = `extendedKeyUsage=${usage}\n`;
    return [
      { ...row, rule: `a ${purpose} with ${usage}`, chain: { leaf: LEAF + NAMES + text } },
      { ...row, rule: `a ${purpose} below an authority with ${usage}`, chain: { between: CA + SIGNS + text } },
      { ...row, rule: `a ${purpose} below a root with ${usage}`, chain: { root: CA + SIGNS + text } },
    ];
  }),
  {
    ...{ extension: "an unknown one", rule: "a critical one is refused", openssl: "refuses" },
    ...{ reason: /critical extension 1\.2\.3\.4/, chain: { leaf: `${LEAF}${NAMES}1.2.3.4=critical,DER:0500\n` } },
  },
  {
    ...{ extension: "an unknown one", rule: "a critical one of an authority is refused", openssl: "refuses" },
    ...{ reason: /critical extension 1\.2\.3\.4/, chain: { between: `${CA}${SIGNS}1.2.3.4=critical,DER:0500\n` } },
  },
  {
    ...{ extension: "an unknown one", rule: "another one is passed over", openssl: "takes" },
    chain: { between: `${CA}${SIGNS}1.2.3.4=DER:0500\n`, leaf: `${LEAF}${NAMES}1.2.3.4=DER:0500\n` },
  },
  ...([
    ["certificatePolicies", "certificatePolicies=critical,1.2.3.4\n"],
    ["policyConstraints", "policyConstraints=critical,inhibitPolicyMapping:0\n"],
    ["inhibitAnyPolicy", "inhibitAnyPolicy=critical,0\n"],
    ["policyMappings", "policyMappings=critical,1.2.3.4:1.2.3.5\n"],
    ["crlDistributionPoints", "crlDistributionPoints=critical,URI:http://example.com/list\n"],
  ] as const).map(([extension, text]): Row => (
    { extension, rule: "a critical one is known", openssl: "takes", chain: { between: CA + SIGNS + text } }
  )),
  {
    ...{ extension: "authorityKeyIdentifier", rule: "it names the key of the issuer", openssl: "refuses" },
    ...{ reason: /has another key/, chain: { leaf: `${LEAF}${NAMES}2.5.29.35=DER:30048002AABB\n` } },
  },
  {
    ...{ extension: "authorityKeyIdentifier", rule: "it names the serial number of the issuer", openssl: "refuses" },
    reason: /has another serial number/,
    chain: { leaf: `${LEAF}${NAMES}2.5.29.35=DER:3016A110A40E300C310A300806035504030C01788202AABB\n` },
  },
  {
    extension: "validity",
    rule: "an authority has expired",
    openssl: "refuses",
    reason: /expired/,
    chain: { daysBetween: -1 },
  },
  { extension: "validity", rule: "a root has expired", openssl: "refuses", reason: /expired/, chain: { daysRoot: -1 } },
  { extension: "validity", rule: "a leaf has expired", openssl: "refuses", reason: /expired/, chain: { daysLeaf: -1 } },

  names("a URI of the permitted host", "takes", "permitted;URI:cluster.local"),
  names("a URI of another host", "refuses", "permitted;URI:other.local"),
  names("a URI below the host, without a dot before it", "refuses", "permitted;URI:local"),
  names("a URI below the host, with a dot before it", "takes", "permitted;URI:.local"),
  names("a host in other letters", "takes", "permitted;URI:Cluster.LOCAL"),
  names("one of several permitted hosts", "takes", "permitted;URI:other.local,permitted;URI:cluster.local"),
  names("an excluded host", "refuses", "excluded;URI:cluster.local"),
  names("another host than the excluded one", "takes", "excluded;URI:other.local"),
  names("permitted and excluded", "refuses", "permitted;URI:.local,excluded;URI:cluster.local"),
  names("a URI without a host", "refuses", "permitted;URI:cluster.local", {
    leaf: `${LEAF}subjectAltName=URI:urn:a:b\n`,
  }),
  names("a DNS name of the permitted domain", "takes", "permitted;DNS:example.com"),
  names("a DNS name of a domain with a dot before it", "takes", "permitted;DNS:.example.com"),
  names("the domain itself, with a dot before it", "refuses", "permitted;DNS:.a.example.com"),
  names("a DNS name whose end is the same text", "refuses", "permitted;DNS:ample.com"),
  names("a DNS name of another domain", "refuses", "permitted;DNS:other.com"),
  names("every DNS name excluded", "refuses", "DER:3006A10430028200"),
  names("DNS names alone constrained, and the leaf has none", "takes", "permitted;DNS:other.com", {
    leaf: `${LEAF}subjectAltName=URI:spiffe://cluster.local/ns/a/sa/b\n`,
  }),
  names("a common name that looks like a host counts as a DNS name", "refuses", "permitted;DNS:other.com", {
    ...{ leaf: `${LEAF}subjectAltName=URI:spiffe://cluster.local/ns/a/sa/b\n`, leafSubject: "/CN=a.example.com" },
  }),
  names("beside a DNS name it does not", "takes", "permitted;DNS:example.com", { leafSubject: "/CN=a.other.com" }),
  names("an address of the permitted network", "takes", "permitted;IP:10.0.0.0/255.0.0.0"),
  names("an address of another network", "refuses", "permitted;IP:10.1.0.0/255.255.0.0"),
  names("an address of an excluded network", "refuses", "excluded;IP:10.0.0.0/255.0.0.0"),
  names("an address of the other family", "refuses", "permitted;IP:10.0.0.0/255.0.0.0", {
    leaf: `${LEAF}subjectAltName=IP:2001:db8::1\n`,
  }),
  names("an IPv6 address of the permitted network", "takes", "permitted;IP:2001:db8::/ffff:ffff::", {
    leaf: `${LEAF}subjectAltName=IP:2001:db8::1\n`,
  }),
  names("mail of the permitted host", "takes", "permitted;email:example.com"),
  names("mail of the permitted address", "takes", "permitted;email:a@example.com"),
  names("mail of another address", "refuses", "permitted;email:b@example.com"),
  names("mail below the host", "refuses", "permitted;email:.example.com"),
  names("a subject in the permitted directory", "takes", "permitted;dirName:dn", {
    ...{ between: constrained("permitted;dirName:dn", "[dn]\nO=Shop\n"), leafSubject: "/O=shop/CN=a" },
  }),
  names("a subject in another directory", "refuses", "permitted;dirName:dn", {
    ...{ between: constrained("permitted;dirName:dn", "[dn]\nO=Shop\n"), leafSubject: "/O=Other/CN=a" },
  }),
  names("an excluded directory", "refuses", "excluded;dirName:dn", {
    ...{ between: constrained("excluded;dirName:dn", "[dn]\nO=Shop\n"), leafSubject: "/O=Shop/CN=a" },
  }),
  names("without a subject there is none to compare", "takes", "permitted;dirName:dn", {
    ...{ between: constrained("permitted;dirName:dn", "[dn]\nO=Shop\n"), leafSubject: "/" },
  }),
  names("a name of a constrained kind that is not known", "refuses", "permitted;RID:1.2.3", {
    leaf: `${LEAF}subjectAltName=RID:1.2.3.4\n`,
  }),
  names("constraints of a root hold for all below it", "refuses", "", {
    ...{ root: constrained("permitted;URI:other.local"), between: CA + SIGNS },
  }),
  names("constraints that are not critical hold, too", "refuses", "", {
    between: `${CA}${SIGNS}nameConstraints=permitted;URI:other.local\n`,
  }),
];

Deno.test({
  name: "each chain gets the verdict of openssl",
  ignore: !hasOpenssl,
  async fn(t) {
    await using maker = await ChainMaker.open();
    const defaults: MadeChain = { root: CA + SIGNS, between: CA + SIGNS, leaf: LEAF + NAMES };
    for (const row of TABLE) {
      await t.step(`${row.extension}: ${row.rule}`, async () => {
        const made = await maker.make({ ...defaults, ...row.chain });
        for (const purpose of row.purpose === undefined ? ["client", "server"] as const : [row.purpose]) {
          const witness = await maker.opensslTakes(made, purpose);
          assert.equal(witness.takes ? "takes" : "refuses", row.openssl, `openssl, ${purpose}: ${witness.text}`);
          const [root, between, leaf] = [made.root, made.between, made.leaf].map((pem) => readCertificates(pem)[0]!);
          const found = verifyChain(leaf!, { intermediates: [between!], roots: [root!], now: Date.now(), purpose });
          const said = "reason" in found ? found.reason : "";
          assert.equal(said === "" ? "takes" : "refuses", row.openssl, `ours, ${purpose}: ${said}`);
          if (said !== "") assert.match(said, row.reason ?? /^$/);
        }
      });
    }
  },
});
