/** A strict grammar reads texts about identities: each parser against an independent witness. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { isFrom, parseRanges } from "../../lib/authenticators/addresses.ts";
import { bearerToken } from "../../lib/authenticators/bearer.ts";
import { NotAuthenticated } from "../../lib/authenticators/caller.ts";
import { accountIdentity, workloadIdentity } from "../../lib/authenticators/trust.ts";
import { xfccAuthenticator } from "../../lib/authenticators/xfcc.ts";
import { MAX_XFCC_LENGTH, parseXfcc } from "../../lib/authenticators/xfcc_header.ts";
import { workloadUri } from "../../lib/pki/spiffe.ts";
import { ANONYMOUS_TLS, caller } from "./support/callers.ts";
import { runs } from "../properties.ts";

const domains = { own: "cluster.local", aliases: [] };
const gateways = xfccAuthenticator(parseRanges("10.0.0.0/8"), () => domains);
const VICTIM = "spiffe://cluster.local/ns/mesh-system/sa/meshd";
const CLIENT = "spiffe://cluster.local/ns/evil/sa/x";
const HASH = "0f".repeat(32);

/** The identity proven by a forwarded header; undefined: none. */
async function proven(header: string): Promise<string | undefined> {
  try {
    const shown = caller({ "x-forwarded-client-cert": header }, ANONYMOUS_TLS, "10.0.0.1:1");
    return workloadUri(await gateways.authenticate(shown));
  } catch (error) {
    if (!(error instanceof NotAuthenticated)) throw error;
    return undefined;
  }
}

/** Text from pieces with a meaning for some reader of the header, and from any other text. */
const hostile = fc.array(
  fc.oneof(
    fc.constantFrom('"', ",", ";", "=", "\\", "\\\\", '\\"', " ", "\t", ", ", '=""', '="', ";URI=", ",URI=", ' URI="'),
    fc.constantFrom(`URI=${VICTIM}`, VICTIM, "X", "By", "Hash=", "Subject", `Hash=${HASH}`, "CN=a", "cert"),
    fc.string({ maxLength: 4 }),
  ),
  { maxLength: 12 },
).map((parts) => parts.join(""));

/** The subject of a certificate in writing (RFC 2253), from pieces of a client's choice. */
const subject = fc.array(
  fc.constantFrom("CN=a", "O=b", '\\"', "\\,", "\\;", "\\\\", "\\=", ",", "+", "\\0A", "URI", `URI=${VICTIM}`, "x y"),
  { maxLength: 6 },
).map((parts) => (parts.length === 0 ? "" : `CN=n${parts.join("")}`));

/** The appended text of an Envoy about the client's certificate, with any details. */
const appended = fc.record({
  by: fc.boolean(),
  cert: fc.boolean(),
  subject: fc.option(subject),
  dns: fc.boolean(),
}).map(({ by, cert, subject, dns }) =>
  [
    ...by ? ["By=spiffe://cluster.local/ns/gw/sa/gw"] : [],
    `Hash=${HASH}`,
    ...cert ? ['Cert="-----BEGIN%20CERTIFICATE-----%0AMIIB%3D%3D%0A"'] : [],
    ...subject === null ? [] : [`Subject="${subject}"`],
    `URI=${CLIENT}`,
    ...dns ? ["DNS=a.example", "DNS=b.example"] : [],
  ].join(";")
);

Deno.test("for any header from a client before its gateway's element, the client has the identity of its certificate, or none", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, appended, fc.constantFrom(",", ", "), async (sent, own, border) => {
      const identity = await proven(`${sent}${border}${own}`);
      assert.ok(identity === undefined || identity === CLIENT, `${sent}${border}${own} proves ${identity}`);
    }),
    { numRuns: runs(3000) },
  );
});

/** The grammar of the header as a single expression. */
const WITNESS = (() => {
  const quoted = String.raw`"(?:[^"\\\p{Cc}]|\\\P{Cc})*"`;
  const bare = String.raw`[^"\\,;=\s\p{Cc}]*`;
  const pair = `(?:by|hash|cert|chain|subject|uri|dns)=(?:${quoted}|${bare})`;
  const element = `${pair}(?:;${pair})*`;
  return new RegExp(`^${element}(?:[ \\t]*,[ \\t]*${element})*$`, "iu");
})();

Deno.test("a header is read where all of it has the grammar, and refused whole otherwise", () => {
  const isRead = (header: string) => {
    try {
      parseXfcc(header);
      return true;
    } catch (error) {
      assert.ok(error instanceof NotAuthenticated);
      // The witness does not count keys.
      return /twice in one element$/.test(error.message) ? undefined : false;
    }
  };
  const mixed = fc.array(fc.oneof(appended, hostile, fc.constantFrom(",", ";", ", ")), { maxLength: 4 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(mixed, hostile, appended), (header) => {
      assert.equal(isRead(header) ?? WITNESS.test(header), WITNESS.test(header), header);
    }),
    { numRuns: runs(3000) },
  );
});

const key = fc.constantFrom("By", "Hash", "Cert", "Chain", "Subject", "URI", "DNS", "uri", "SUBJECT");
const bare = fc.string({ maxLength: 12 }).map((text) => text.replace(/[",;=\\\s\p{Cc}]/gu, ""));
const quoted = fc.string({ maxLength: 12 }).map((text) => text.replace(/\p{Cc}/gu, "").replace(/["\\]/g, "\\$&"));
const pair = fc.oneof(
  fc.tuple(key, bare).map(([key, value]) => ({ text: `${key}=${value}`, read: [key.toLowerCase(), value] })),
  fc.tuple(key, quoted).map(([key, value]) => ({ text: `${key}="${value}"`, read: [key.toLowerCase(), value] })),
);
const element = fc.uniqueArray(pair, { minLength: 1, maxLength: 5, selector: ({ read: [key] }) => key });

Deno.test("what was written is what is read: keys, values and borders of elements", () => {
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 4 }), fc.constantFrom(",", " , "), (all, border) => {
      const header = all.map((pairs) => pairs.map(({ text }) => text).join(";")).join(border);
      assert.deepEqual(parseXfcc(header), all.map((pairs) => pairs.map(({ read }) => read)));
    }),
  );
});

const REFUSED: Readonly<Record<string, string>> = {
  "an open quote before the gateway's element":
    `URI=${VICTIM};X=",By=spiffe://gw;Hash=${HASH};Subject="";URI=${CLIENT}`,
  "an open quote under a known key": `URI=${VICTIM};Subject=",Hash=${HASH};Subject="CN=x";URI=${CLIENT}`,
  "an open quote and a backslash": `URI=${VICTIM};Subject="\\,Hash=${HASH};URI=${CLIENT}`,
  "a quote in the middle of a value": `URI=a"b,URI=${VICTIM}`,
  "text behind a closing quote": `Subject="a"b;URI=${VICTIM}`,
  "two quoted texts in one value": `Subject="a""b";URI=${VICTIM}`,
  "a backslash without quotes": `URI=${VICTIM}\\`,
  "an escaped letter in an identity": `URI="spiffe://cluster.local/ns/mesh-system/sa/m\\eshd"`,
  "an unknown key": `X=1;URI=${VICTIM}`,
  "a key with a space": `URI =${VICTIM}`,
  "a space before a value": `URI= ${VICTIM}`,
  "a space before a key": `Hash=${HASH}; URI=${VICTIM}`,
  "a space inside a value": `URI=${VICTIM} x`,
  "an equals sign inside a value": `URI=${VICTIM}=x`,
  "an empty pair": `Hash=${HASH};;URI=${VICTIM}`,
  "an empty pair at the end": `URI=${VICTIM};`,
  "an empty element before": `,URI=${VICTIM}`,
  "an empty element behind": `URI=${VICTIM},`,
  "a key without a value": `URI;URI=${VICTIM}`,
  "one hash more": `Hash=${HASH};Hash=${HASH};URI=${VICTIM}`,
  "a control character": `URI=${VICTIM}\x7f`,
  "a header that is too long": `Subject="${"x".repeat(MAX_XFCC_LENGTH)}";URI=${VICTIM}`,
};

for (const [name, header] of Object.entries(REFUSED)) {
  Deno.test(`forwarded certificate: ${name} proves nothing`, async () => {
    assert.equal(await proven(header), undefined);
  });
}

Deno.test("a refusal of a forwarded certificate names the place, and shows little of the header", () => {
  assert.throws(() => parseXfcc(`URI=${CLIENT};X`), {
    message: 'character 41: got "X", expected key=value or key="value", closed by ; or ,',
  });
  assert.throws(() => parseXfcc(`URI="${"s".repeat(500)}`), ({ message }: Error) => message.length < 150);
});

const headers = (authorization: string) => ({ headers: { authorization } });

Deno.test("a bearer token is one token of RFC 6750, and nothing around it", () => {
  const text = fc.array(fc.oneof(fc.constantFrom("Bearer", "Istio", " ", "=", "a.b.c", ",", "\n", "\t"), fc.string()));
  fc.assert(
    fc.property(text.map((parts) => parts.join("")), (header) => {
      const witness = /^(?:bearer|istio) +([a-z0-9\-._~+/]+={0,})$/i.exec(header)?.[1];
      if (witness === undefined) assert.throws(() => bearerToken(headers(header)), NotAuthenticated);
      else assert.equal(bearerToken(headers(header)), witness);
    }),
  );
  for (const wrong of ["Bearer a=b", "Bearer a b", "Bearer a\n", " Bearer a", "Bearer\ta", "Bearer =", "Bearer é"]) {
    assert.throws(() => bearerToken(headers(wrong)), NotAuthenticated, wrong);
  }
});

Deno.test("a range of gateways has one meaning: short, octal, hexadecimal and scoped forms are refused", () => {
  for (
    const wrong of [
      ...["10/8", "10.0/16", "010.0.0.0/8", "0x0a.0.0.0/8", "167772160/8", "10.0.0.0/08", "10.0.0.0/33", "10.0.0.0/-1"],
      ...["10.0.0.0/8/8", "10.0.0.0/", "10.0.0.0/255.0.0.0", "::/129", "fe80::1%eth0/64", "::/ 0", "256.0.0.0/8"],
      ...["1.2.3.4", "::1", "/8", "10.0.0.0/+8", "10.0.0.0/1e1", "fd00:/8", "[fd00::]/8"],
    ]
  ) assert.throws(() => parseRanges(wrong), TypeError, wrong);
  const byte = fc.nat({ max: 255 });
  fc.assert(fc.property(fc.tuple(byte, byte, byte, byte), fc.nat({ max: 32 }), (bytes, bits) => {
    const ranges = parseRanges(`${bytes.join(".")}/${bits}`);
    const number = (of: readonly number[]) => of.reduce((sum, one) => sum * 256 + one, 0);
    const other = [bytes[0] ^ 1, bytes[1], bytes[2], bytes[3] ^ 128];
    if (other[0] === 127) return;
    const size = 2 ** (32 - bits);
    const within = Math.floor(number(bytes) / size) === Math.floor(number(other) / size);
    assert.equal(isFrom({ address: `${other.join(".")}:1` }, ranges), within);
  }));
});

Deno.test("an address that no socket has is in no range", () => {
  const everywhere = parseRanges("0.0.0.0/0, ::/0");
  for (
    const address of ["10:1", "010.0.0.1:1", "0x7f.1:1", "1:1", "/run/x.sock", "", ":1", "localhost:1", "::1%lo:1"]
  ) {
    assert.equal(isFrom({ address }, everywhere), address === "::1%lo:1", address);
  }
});

Deno.test("the account of a token is two names of the orchestrator, and nothing else", () => {
  const label = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
  const witness = new RegExp(`^system:serviceaccount:(${label}):(${label}(?:\\.${label})*)$`);
  const piece = fc.constantFrom("system", ":", "serviceaccount", "a", "-", ".", "A", "_", "/", "\n", " ", "0", "é", "");
  const name = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((parts) => parts.join("")),
    fc.array(piece, { maxLength: 6 }).map((parts) => `system:serviceaccount:a${parts.join("")}`),
  );
  fc.assert(
    fc.property(name, (text) => {
      const match = witness.exec(text);
      if (match === null) assert.throws(() => accountIdentity(text, domains), NotAuthenticated, text);
      else assert.deepEqual(Object.values(accountIdentity(text, domains)), ["cluster.local", match[1], match[2]]);
    }),
    { numRuns: runs(1000) },
  );
  const long = (n: number) => "a".repeat(n);
  assert.throws(() => accountIdentity(`system:serviceaccount:${long(64)}:b`, domains), NotAuthenticated);
  assert.throws(() => accountIdentity(`system:serviceaccount:b:${long(63)}.${long(254)}`, domains), NotAuthenticated);
});

Deno.test("the SPIFFE ID of a workload is read where the standard's grammar and the form of workloads have it", () => {
  const segment = "(?!\\.\\.?/|\\.\\.?$)[A-Za-z0-9._-]+";
  const witness = new RegExp(`^spiffe://cluster\\.local/ns/(${segment})/sa/(${segment})$`);
  const piece = fc.constantFrom(
    "/",
    "ns",
    "sa",
    "a",
    ".",
    "..",
    "%2f",
    "?",
    "#",
    ":",
    "@",
    "\\",
    " ",
    "\n",
    "é",
    "A-_",
  );
  const uri = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((parts) => `spiffe://cluster.local${parts.join("")}`),
    fc.tuple(fc.array(piece, { maxLength: 3 }), fc.array(piece, { maxLength: 3 }))
      .map(([a, b]) => `spiffe://cluster.local/ns/${a.join("")}/sa/${b.join("")}`),
  );
  fc.assert(
    fc.property(uri, (text) => {
      const match = witness.exec(text);
      if (match === null) assert.throws(() => workloadIdentity(text, domains), NotAuthenticated, text);
      else assert.deepEqual(Object.values(workloadIdentity(text, domains)).slice(1), [match[1], match[2]]);
    }),
    { numRuns: runs(1000) },
  );
});
