/** A token is verified once, as long as its keys are the issuer's and its time has not passed. */
import assert from "node:assert/strict";
import type { LocalJWKSet } from "jose";
import { Authentication } from "../../lib/authenticators/authentication.ts";
import { failureText } from "../../lib/authenticators/caller.ts";
import { CLOCK_TOLERANCE, JwtAuthenticator } from "../../lib/authenticators/jwt.ts";
import { parseKeySet } from "../../lib/authenticators/token_keys.ts";
import { VerifiedTokens } from "../../lib/authenticators/verified_tokens.ts";
import { ANONYMOUS_TLS, caller } from "./support/callers.ts";
import { NOW, TestIssuer } from "./support/issuer.ts";

/** An authenticator with keys that the test replaces, and with a count of verified signatures. */
async function counting(issuer: TestIssuer) {
  const clock = { ms: NOW * 1000, now: () => clock.ms };
  const counts = { verified: 0 };
  const fetched = async (): Promise<LocalJWKSet> => {
    const set = parseKeySet(await (await fetch(`${issuer.url}/keys`)).text());
    const looked: LocalJWKSet = Object.assign((...args: Parameters<LocalJWKSet>) => {
      counts.verified++;
      return set(...args);
    }, { jwks: set.jwks });
    return looked;
  };
  let current = await fetched();
  const keys = { current: () => Promise.resolve(current), renewed: () => Promise.resolve(false) };
  const rule = { issuer: issuer.url, audiences: ["mesh-ca"] };
  const jwt = new JwtAuthenticator("token", rule, keys, () => ({ own: "cluster.local", aliases: [] }), clock);
  const log = { error: (message: unknown) => assert.fail(String(message)) };
  const authentication = new Authentication([jwt], { plaintext: false, log });
  const verdict = async (token: string): Promise<string> => {
    const result = await authentication.authenticate(caller({ authorization: `Bearer ${token}` }, ANONYMOUS_TLS));
    return "caller" in result ? result.caller.identity.serviceAccount : failureText(result.failures);
  };
  return { clock, counts, verdict, fetchAgain: async () => void (current = await fetched()) };
}

Deno.test("a repeated token is not verified again, another token is, also a token with a changed signature", async () => {
  await using issuer = await TestIssuer.start();
  const { counts, verdict } = await counting(issuer);
  const token = await issuer.token();
  for (let i = 0; i < 3; i++) assert.equal(await verdict(token), "cart");
  assert.equal(counts.verified, 1);
  const other = await issuer.token({ sub: "system:serviceaccount:shop:other" });
  assert.equal(await verdict(other), "other");
  assert.equal(counts.verified, 2);
  const [head, body] = token.split(".");
  const forged = `${head}.${body}.${other.split(".")[2]}`;
  for (let i = 0; i < 2; i++) assert.match(await verdict(forged), /signature/);
  assert.equal(counts.verified, 4, "what is refused is looked at each time");
});

Deno.test("a kept token ends with its time, and counts for nothing before it begins", async () => {
  await using issuer = await TestIssuer.start();
  const { clock, counts, verdict } = await counting(issuer);
  const token = await issuer.token({ exp: NOW + 600, nbf: NOW });
  assert.equal(await verdict(token), "cart");
  clock.ms = (NOW + 600 + CLOCK_TOLERANCE) * 1000 - 1;
  assert.equal(await verdict(token), "cart");
  assert.equal(counts.verified, 1);
  clock.ms += 1;
  assert.match(await verdict(token), /the token has expired/);
  clock.ms = (NOW - CLOCK_TOLERANCE) * 1000 - 1;
  assert.match(await verdict(token), /the token is not valid yet/);
});

Deno.test("with other keys of the issuer every token is verified anew, and refused when its key is gone", async () => {
  await using issuer = await TestIssuer.start();
  const { counts, verdict, fetchAgain } = await counting(issuer);
  const token = await issuer.token();
  assert.equal(await verdict(token), "cart");
  await fetchAgain();
  assert.equal(await verdict(token), "cart");
  assert.equal(counts.verified, 2);
  issuer.keys.pop();
  await issuer.addKey("two");
  await fetchAgain();
  assert.match(await verdict(token), /the issuer has no key of the token's name/);
  assert.equal(await verdict(await issuer.token()), "cart");
});

Deno.test("what is kept is bounded: the token that was proven first goes first", () => {
  const tokens = new VerifiedTokens(CLOCK_TOLERANCE);
  const keys = parseKeySet('{"keys":[]}');
  const claims = { sub: "a", exp: NOW + 60 };
  for (let i = 0; i <= 10_000; i++) tokens.keep(`token ${i}`, keys, claims);
  assert.equal(tokens.size, 10_000);
  assert.equal(tokens.find("token 0", keys, NOW * 1000), undefined);
  assert.deepEqual(tokens.find("token 10000", keys, NOW * 1000), claims);
  assert.equal(tokens.find("token 10000", parseKeySet('{"keys":[]}'), NOW * 1000), undefined);
});
