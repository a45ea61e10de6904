/**
 * All attacks by credentials, in one table: each attack gets the reasons of all authenticators, and no
 * identity.
 */
import assert from "node:assert/strict";
import { CompactSign, SignJWT, UnsecuredJWT } from "jose";
import { parseRanges } from "../../lib/authenticators/addresses.ts";
import { Authentication } from "../../lib/authenticators/authentication.ts";
import { type CallerCredentials, failureText } from "../../lib/authenticators/caller.ts";
import { clientCertificateAuthenticator } from "../../lib/authenticators/client_certificate.ts";
import { fetchKeySet } from "../../lib/authenticators/issuer_keys.ts";
import { JwtAuthenticator } from "../../lib/authenticators/jwt.ts";
import { TokenKeys } from "../../lib/authenticators/token_keys.ts";
import type { TrustDomains } from "../../lib/authenticators/trust.ts";
import { xfccAuthenticator } from "../../lib/authenticators/xfcc.ts";
import { readCertificate } from "../../lib/pki/certificate.ts";
import type { RevocationList } from "../../lib/pki/revocation.ts";
import { workloadUri } from "../../lib/pki/spiffe.ts";
import type { TlsState } from "../../lib/sockets/transport/peer.ts";
import { ANONYMOUS_TLS, caller, CART_ID, withCertificate } from "./support/callers.ts";
import { CART, NOW, TestIssuer } from "./support/issuer.ts";

const domains = (): TrustDomains => ({ own: "cluster.local", aliases: ["old.example"] });
const clock = { now: () => NOW * 1000, monotonic: () => 0 };

/** Revocations of the authority. A row adds its own. */
const revocations: RevocationList[] = [];

function revoke({ chain }: TlsState): void {
  const { serial, issuer, issuerDer } = readCertificate(chain[0]!);
  const nothing = new Uint8Array();
  const signed = { body: nothing, signature: nothing, signatureAlgorithm: "" };
  revocations.push({ ...signed, issuer, issuerDer, serials: new Set([serial]), thisUpdate: 0, unknownCritical: [] });
}

/** All authenticators, with gateways in 10.0.0.0/8. */
function all(issuer: TestIssuer, audiences: readonly string[] = ["mesh-ca"], plaintext = false): Authentication {
  const rule = { issuer: issuer.url, jwksUri: `${issuer.url}/keys`, audiences };
  const keys = new TokenKeys(() => fetchKeySet(rule), clock);
  return new Authentication([
    clientCertificateAuthenticator(domains, () => revocations),
    new JwtAuthenticator("JWT_RULE", rule, keys, domains, clock),
    xfccAuthenticator(parseRanges("10.0.0.0/8"), domains),
  ], { plaintext, log: { error: (message, fields) => assert.fail(`${message} ${JSON.stringify(fields)}`) } });
}

const bearer = (token: string, tls = ANONYMOUS_TLS) => caller({ authorization: `Bearer ${token}` }, tls);
const forwarded = (header: string, address: string) =>
  caller({ "x-forwarded-client-cert": header }, ANONYMOUS_TLS, address);

const base64 = (value: unknown) =>
  new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });

/** A well-signed token with claims of any form. */
async function signedJson(issuer: TestIssuer, claims: object): Promise<string> {
  const [{ kid, pair }] = issuer.keys as [TestIssuer["keys"][0]];
  const body = new TextEncoder().encode(JSON.stringify({ ...issuer.claims(), ...claims }));
  return await new CompactSign(body).setProtectedHeader({ alg: "ES256", kid }).sign(pair.privateKey);
}

/** A row: the caller's credentials, and the authenticator's name and reason, which must be among the failures. */
type Attack = (
  issuer: TestIssuer,
) => Promise<readonly [CallerCredentials, RegExp]> | readonly [CallerCredentials, RegExp];

const ATTACKS: Readonly<Record<string, Attack>> = {
  "nothing at all":
    () => [caller({}, ANONYMOUS_TLS), /^client certificate: no certificate; JWT_RULE: no token; forwarded/],
  "a token for another audience": async (issuer) => [
    bearer(await issuer.token({ aud: "vault" })),
    /JWT_RULE: claim aud: got "vault", expected one of mesh-ca/,
  ],
  "a token for other audiences": async (issuer) => [
    bearer(await issuer.token({ aud: ["vault", "mesh-c"] })),
    /JWT_RULE: claim aud: got .+vault/,
  ],
  "a token without audience": async (
    issuer,
  ) => [bearer(await issuer.token({ aud: undefined! })), /claim aud: got none/],
  "a token that has expired": async (
    issuer,
  ) => [bearer(await issuer.token({ exp: NOW - 31 })), /the token has expired/],
  "a token that never expires": async (
    issuer,
  ) => [bearer(await issuer.token({ exp: undefined! })), /claim exp: got none/],
  "a token that is not valid yet": async (issuer) => [
    bearer(await issuer.token({ nbf: NOW + 31 })),
    /the token is not valid yet/,
  ],
  "a token of another issuer, signed with the right key": async (issuer) => [
    bearer(await issuer.token({ iss: "https://elsewhere.example" })),
    /JWT_RULE: got issuer "https:\/\/elsewhere\.example", expected http:/,
  ],
  "a token without signature": (issuer) => [
    bearer(new UnsecuredJWT(issuer.claims()).encode()),
    /JWT_RULE: the token is not signed by one of RS256/,
  ],
  "a token whose signature was cut off": async (issuer) => [
    bearer((await issuer.token()).replace(/[^.]+$/, "")),
    /JWT_RULE: the signature is not by a key of the issuer/,
  ],
  "a token signed with the public key as shared secret": async (issuer) => {
    const secret = new TextEncoder().encode(await issuer.publicPem());
    const token = await new SignJWT(issuer.claims()).setProtectedHeader({ alg: "HS256", kid: "one" }).sign(secret);
    return [bearer(token), /JWT_RULE: the token is not signed by one of RS256/];
  },
  "a token signed with a forged key of the right name": async (issuer) => {
    await using forger = await TestIssuer.start();
    return [bearer(await issuer.token({}, forger.keys[0])), /the signature is not by a key of the issuer/];
  },
  "a token signed with a key of an unknown name": async (issuer) => {
    await using forger = await TestIssuer.start();
    const key = { ...forger.keys[0]!, kid: "two" };
    return [bearer(await issuer.token({}, key)), /the issuer has no key of the token's name and kind/];
  },
  "a token that brings its own key": async (issuer) => {
    await using forger = await TestIssuer.start();
    const { keys: [jwk] } = JSON.parse(await forger.keySet());
    const header = { alg: "ES256", jwk, jku: `${forger.url}/keys` };
    const token = await new SignJWT(issuer.claims()).setProtectedHeader(header).sign(forger.keys[0]!.pair.privateKey);
    return [bearer(token), /the signature is not by a key of the issuer/];
  },
  "claims that were changed after the signature": async (issuer) => {
    const [head, , signature] = (await issuer.token()).split(".");
    const claims = issuer.claims({ sub: "system:serviceaccount:mesh-system:meshd" });
    const body = new TextEncoder().encode(JSON.stringify(claims)).toBase64({
      alphabet: "base64url",
      omitPadding: true,
    });
    return [bearer(`${head}.${body}.${signature}`), /the signature is not by a key of the issuer/];
  },
  ...Object.fromEntries(
    [
      ...["admin", "system:serviceaccount:shop", "system:serviceaccount:shop:cart:more", "system:serviceaccount::cart"],
      ...["system:serviceaccount:shop/sa/x:cart", "system:serviceaccount:shop:../../ns/mesh-system/sa/meshd", ""],
      ...["system:node:shop:cart", "SYSTEM:serviceaccount:shop:cart", "system:serviceaccount:shop:cart\n"],
    ].map((sub): [string, Attack] => [
      `a token whose subject is ${JSON.stringify(sub)}`,
      async (issuer) => [
        bearer(await issuer.token({ sub })),
        /got subject ".*", expected system:serviceaccount:<namespace>:<account>/,
      ],
    ]),
  ),
  ...Object.fromEntries(
    [{}, 5, ["x"], true, null].map((iss): [string, Attack] => [
      `a token whose issuer is ${JSON.stringify(iss)}`,
      () => [
        bearer(new UnsecuredJWT({ iss: iss as string, sub: CART }).encode().replace(/\.$/, ".AAAA")),
        /JWT_RULE: claim iss: got (?:an object|5|an array|true|null), expected a text/,
      ],
    ]),
  ),
  ...Object.fromEntries(
    ([
      [{ sub: 5 }, /JWT_RULE: claim sub: got 5, expected a text/],
      [{ sub: { a: 1 } }, /JWT_RULE: claim sub: got an object, expected a text/],
      [{ sub: ["system:serviceaccount:shop:cart"] }, /JWT_RULE: claim sub: got an array, expected a text/],
      [{ aud: ["mesh-ca", 5] }, /JWT_RULE: claim aud: got an array, expected a text, or a list of texts/],
      [{ exp: "4000000000" }, /JWT_RULE: claim exp: got "4000000000", expected seconds since 1970/],
      [{ nbf: {}, sub: null }, /JWT_RULE: claim sub: got null, expected a text, claim nbf: got an object/],
    ] as const).map(([claims, reason]): [string, Attack] => [
      `a signed token with ${JSON.stringify(claims)}`,
      async (issuer) => [bearer(await signedJson(issuer, claims)), reason],
    ]),
  ),
  "a token for a key that is too short to be used": async (issuer) => {
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 1024 };
    const publicExponent = new Uint8Array([1, 0, 1]);
    const pair = await crypto.subtle.generateKey({ ...algorithm, publicExponent }, true, ["sign", "verify"]);
    issuer.keys.push({ kid: "short", pair });
    const head = base64({ alg: "RS256", kid: "short" });
    return [bearer(`${head}.${base64(issuer.claims())}.AAAA`), /JWT_RULE: the signature cannot be verified: /];
  },
  "a token of 20,000 characters": async (issuer) => [
    bearer(await issuer.token({ more: "x".repeat(15_000) })),
    /JWT_RULE: got a token of \d+ characters, expected at most 16384/,
  ],
  "two tokens in one header": async (issuer) => [
    caller({ authorization: `Bearer ${await issuer.token()}, Bearer x` }, ANONYMOUS_TLS),
    /expected one header `authorization: Bearer <token>`/,
  ],
  "a password": () => [caller({ authorization: "Basic dTpw" }, ANONYMOUS_TLS), /expected one header `authorization/],
  "bytes that are no token": () => [bearer("a.b.c"), /JWT_RULE: expected a signed token \(JWT\)/],
  "a good token in plain text": async (issuer) => [
    caller({ authorization: `Bearer ${await issuer.token()}` }),
    /^connection: the connection is in plain text, and XDS_AUTH_PLAINTEXT does not allow a proof in plain text$/,
  ],
  "a certificate of another trust domain": async () => [
    caller({}, await withCertificate("spiffe://evil.example/ns/shop/sa/cart")),
    /client certificate: got trust domain "evil\.example", expected cluster\.local, old\.example/,
  ],
  "a certificate of a trust domain that begins like ours": async () => [
    caller({}, await withCertificate("spiffe://cluster.local.evil.example/ns/shop/sa/cart")),
    /got trust domain/,
  ],
  "a certificate with two identities": async () => [
    caller({}, await withCertificate(CART_ID, "spiffe://cluster.local/ns/mesh-system/sa/meshd")),
    /client certificate: expected exactly one URI in the certificate, a SPIFFE ID/,
  ],
  "a certificate that was revoked": async () => {
    const own = await withCertificate(CART_ID);
    revoke(own);
    return [caller({}, own), /client certificate: certificate [0-9a-f]+ was revoked by "CN=root"/];
  },
  "a certificate with an identity of 3,000 characters": async () => [
    caller({}, await withCertificate(`${CART_ID}${"x".repeat(3000)}`)),
    /expected exactly one URI in the certificate, a SPIFFE ID/,
  ],
  "a certificate without identity": async () => [caller({}, await withCertificate()), /expected exactly one URI/],
  "a certificate with an identity of another form": async () => [
    caller({}, await withCertificate("spiffe://cluster.local/ns/shop/sa/cart/more")),
    /client certificate: got "spiffe:.+", expected spiffe:/,
  ],
  "a certificate that nobody verified": async () => [
    caller({}, { ...await withCertificate(CART_ID), verified: false, unverifiedReason: "SELF_SIGNED", chain: [] }),
    /client certificate: SELF_SIGNED/,
  ],
  "a forwarded certificate from elsewhere": () => [
    forwarded(`URI=${CART_ID}`, "192.0.2.7:40000"),
    /forwarded client certificate: got the header from 192\.0\.2\.7:40000, expected an address in TRUSTED_GATEWAY_CIDR/,
  ],
  "a forwarded certificate from an address that looks like one of the range": () => [
    forwarded(`URI=${CART_ID}`, "[2001:db8::10.0.0.1]:40000"),
    /expected an address in TRUSTED_GATEWAY_CIDR/,
  ],
  "an identity that the gateway's client put before the gateway's": () => [
    forwarded(`URI=${CART_ID},By=spiffe://x;Hash=ab`, "10.1.2.3:1"),
    /got 0 URIs in the last element/,
  ],
  "an identity in a quoted name": () => [
    forwarded(`Hash=ab;Subject="CN=x;URI=${CART_ID},URI=${CART_ID}"`, "10.1.2.3:1"),
    /got 0 URIs in the last element/,
  ],
  "two forwarded identities of one certificate": () => [
    forwarded(`URI=${CART_ID};URI=spiffe://cluster.local/ns/mesh-system/sa/meshd`, "10.1.2.3:1"),
    /got 2 URIs in the last element/,
  ],
  "a forwarded certificate of another trust domain": () => [
    forwarded("URI=spiffe://evil.example/ns/shop/sa/cart", "10.1.2.3:1"),
    /forwarded client certificate: got trust domain "evil\.example"/,
  ],
};

for (const [name, attack] of Object.entries(ATTACKS)) {
  Deno.test(`${name} proves nothing`, async () => {
    await using issuer = await TestIssuer.start();
    const [credentials, reason] = await attack(issuer);
    const result = await all(issuer).authenticate(credentials);
    assert.ok("failures" in result, JSON.stringify(result));
    assert.match(failureText(result.failures), reason);
  });
}

Deno.test("a rule without audiences accepts nobody", async () => {
  await using issuer = await TestIssuer.start();
  const result = await all(issuer, []).authenticate(bearer(await issuer.token()));
  assert.ok("failures" in result);
  assert.match(failureText(result.failures), /JWT_RULE: the rule has no audience, and accepts nobody/);
  assert.deepEqual(issuer.asked, [], "and its keys are not fetched");
});

Deno.test("what is right proves an identity: certificate, token, forwarded certificate, in this order", async () => {
  await using issuer = await TestIssuer.start();
  const authentication = all(issuer);
  const token = await issuer.token({ aud: ["vault", "mesh-ca"], exp: NOW - 29, nbf: NOW + 29 });
  const other = "spiffe://cluster.local/ns/pay/sa/till";
  const gateway = { "x-forwarded-client-cert": `URI=spiffe://x/y,By=z;Subject="CN=a,O=\\"b\\"";URI="${other}"` };
  for (
    const [credentials, id, provenBy] of [
      [caller({}, await withCertificate(CART_ID)), CART_ID, "client certificate"],
      [
        caller({}, await withCertificate("spiffe://old.example/ns/a/sa/b")),
        "spiffe://old.example/ns/a/sa/b",
        "client certificate",
      ],
      [bearer(token, await withCertificate(other)), other, "client certificate"],
      [bearer(token), CART_ID, "JWT_RULE"],
      [bearer(token, await withCertificate("spiffe://evil.example/ns/a/sa/b")), CART_ID, "JWT_RULE"],
      [caller({ authorization: `istio ${token}`, ...gateway }, ANONYMOUS_TLS, "10.0.0.1:1"), CART_ID, "JWT_RULE"],
      [caller(gateway, ANONYMOUS_TLS, "10.0.0.1:1"), other, "forwarded client certificate"],
      [caller(gateway, ANONYMOUS_TLS, "::ffff:10.0.0.1:1"), other, "forwarded client certificate"],
      [caller(gateway, ANONYMOUS_TLS, "127.0.0.1:1"), other, "forwarded client certificate"],
      [caller(gateway, ANONYMOUS_TLS, "::1:1"), other, "forwarded client certificate"],
    ] as const
  ) {
    const result = await authentication.authenticate(credentials);
    assert.ok("caller" in result, JSON.stringify(result));
    assert.deepEqual([workloadUri(result.caller.identity), result.caller.provenBy], [id, provenBy]);
  }
  const plain = await all(issuer, ["mesh-ca"], true).authenticate(caller({ authorization: `Bearer ${token}` }));
  assert.ok("caller" in plain);
  assert.equal(CART.endsWith(plain.caller.identity.serviceAccount), true);
});

Deno.test("an authenticator that fails by itself refuses every caller, and is one line a second however many there are", async () => {
  const lines: unknown[] = [];
  const failing = {
    name: "failing",
    authenticate: () => {
      throw new Error("a fault");
    },
  };
  const log = { error: (message: unknown) => lines.push(message) };
  const authentication = new Authentication([failing], { plaintext: false, log });
  const results = await Promise.all(
    Array.from({ length: 300 }, () => authentication.authenticate(caller({}, ANONYMOUS_TLS))),
  );
  assert.ok(
    results.every((result) => "failures" in result && failureText(result.failures) === "failing: an internal error"),
  );
  assert.deepEqual(lines, ["an authenticator failed"]);
});
