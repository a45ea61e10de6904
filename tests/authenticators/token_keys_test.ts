/** Keys of issuers: kept, renewed, and bounded in time, size and number. */
import assert from "node:assert/strict";
import { failureText } from "../../lib/authenticators/caller.ts";
import { Authentication } from "../../lib/authenticators/authentication.ts";
import { fetchText } from "../../lib/kernel/fetch/fetch_text.ts";
import { fetchKeySet } from "../../lib/authenticators/issuer_keys.ts";
import { JwtAuthenticator } from "../../lib/authenticators/jwt.ts";
import { KEYS_MAX_AGE, KEYS_PAUSE, MAX_KEYS, parseKeySet, TokenKeys } from "../../lib/authenticators/token_keys.ts";
import type { TokenRule } from "../../lib/authenticators/jwt_rule.ts";
import { ANONYMOUS_TLS, caller } from "./support/callers.ts";
import { NOW, TestIssuer } from "./support/issuer.ts";
import { PATIENCE } from "../patience.ts";

/** An authenticator of an issuer's tokens under the test's clock, and the verdict about a token. */
function trusting(issuer: TestIssuer, rule: Partial<TokenRule> = {}, limits = { timeout: PATIENCE, size: 10_000 }) {
  const whole: TokenRule = { issuer: issuer.url, jwksUri: `${issuer.url}/keys`, audiences: ["mesh-ca"], ...rule };
  const clock = { ms: 0, monotonic: () => clock.ms, now: () => NOW * 1000 };
  const failures: string[] = [];
  const keys = new TokenKeys(
    () => fetchKeySet(whole, (url) => fetchText(url, limits)),
    clock,
    (reason) => failures.push(reason),
  );
  const domains = () => ({ own: "cluster.local", aliases: [] });
  const authentication = new Authentication([new JwtAuthenticator("token", whole, keys, domains, clock)], {
    plaintext: false,
    log: { error: (message) => assert.fail(String(message)) },
  });
  const verdict = async (token: string): Promise<string> => {
    const result = await authentication.authenticate(caller({ authorization: `Bearer ${token}` }, ANONYMOUS_TLS));
    return "caller" in result ? result.caller.identity.serviceAccount : failureText(result.failures);
  };
  return { clock, failures, verdict };
}

const keyFetches = ({ asked }: TestIssuer) => asked.filter((path) => path === "/keys").length;

Deno.test("keys are fetched once for many tokens at once, and again when they are old", async () => {
  await using issuer = await TestIssuer.start();
  const { clock, verdict } = trusting(issuer);
  const token = await issuer.token();
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 20 }, () => verdict(token)))), new Set(["cart"]));
  clock.ms += KEYS_MAX_AGE - 1;
  assert.equal(await verdict(token), "cart");
  assert.equal(keyFetches(issuer), 1);
  clock.ms += 1;
  assert.equal(await verdict(token), "cart");
  assert.equal(keyFetches(issuer), 2);
});

Deno.test("a key that the issuer began to use is fetched at the first token; one that it dropped is forgotten", async () => {
  await using issuer = await TestIssuer.start();
  const { clock, verdict } = trusting(issuer);
  const old = await issuer.token();
  assert.equal(await verdict(old), "cart");
  issuer.keys.pop();
  await issuer.addKey("two");
  clock.ms += KEYS_PAUSE;
  assert.equal(await verdict(await issuer.token()), "cart");
  assert.match(await verdict(old), /the issuer has no key of the token's name/);
  assert.equal(keyFetches(issuer), 2);
});

Deno.test("a key that was exchanged under its old name is found, too", async () => {
  await using issuer = await TestIssuer.start();
  const { clock, verdict } = trusting(issuer);
  assert.equal(await verdict(await issuer.token()), "cart");
  issuer.keys.pop();
  await issuer.addKey("one");
  clock.ms += KEYS_PAUSE;
  assert.equal(await verdict(await issuer.token()), "cart");
});

Deno.test("tokens with unknown keys make the issuer be asked once a pause, however many they are", async () => {
  await using issuer = await TestIssuer.start();
  await using forger = await TestIssuer.start();
  const { clock, verdict } = trusting(issuer);
  const forged = await issuer.token({}, { ...forger.keys[0]!, kid: "x" });
  for (let i = 0; i < 50; i++) assert.match(await verdict(forged), /no key of the token's name/);
  assert.equal(keyFetches(issuer), 1);
  clock.ms += KEYS_PAUSE;
  for (let i = 0; i < 50; i++) await verdict(forged);
  assert.equal(keyFetches(issuer), 2);
  assert.equal(await verdict(await issuer.token()), "cart");
});

Deno.test("keys stay while the issuer cannot be asked, and it is not asked for each token", async () => {
  await using issuer = await TestIssuer.start();
  const { clock, failures, verdict } = trusting(issuer);
  const token = await issuer.token();
  assert.equal(await verdict(token), "cart");
  issuer.answer = () => new Response("", { status: 503 });
  clock.ms += KEYS_MAX_AGE;
  for (let i = 0; i < 5; i++) assert.equal(await verdict(token), "cart");
  assert.equal(keyFetches(issuer), 2);
  assert.deepEqual(failures, [`the issuer's keys cannot be fetched: ${issuer.url}/keys: status 503, expected 200`]);
});

Deno.test("an issuer that never had keys refuses with the reason, and is asked again after a pause", async () => {
  await using issuer = await TestIssuer.start();
  const { clock, verdict } = trusting(issuer);
  const token = await issuer.token();
  issuer.answer = () => new Response("junk");
  const reason = /^token: the issuer's keys cannot be fetched: expected a JSON Web Key Set, got text that is not JSON$/;
  for (let i = 0; i < 5; i++) assert.match(await verdict(token), reason);
  issuer.answer = undefined;
  assert.match(await verdict(token), reason);
  assert.equal(keyFetches(issuer), 1);
  clock.ms += KEYS_PAUSE;
  assert.equal(await verdict(token), "cart");
});

Deno.test("a key set that is too large, too slow or elsewhere is given up", async () => {
  await using issuer = await TestIssuer.start();
  const token = await issuer.token();
  const cases: [() => Response | Promise<Response>, RegExp][] = [
    [() => new Response("x".repeat(10_001)), /\/keys: more than 10000 bytes$/],
    [() => Response.redirect(`${issuer.url}/other`), /\/keys: /],
    [() => new Promise((done) => setTimeout(() => done(new Response("{}")), 300)), /\/keys: no answer within 0\.1 s$/],
    [
      () => new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(1)) })),
      /\/keys: no answer within 0\.1 s$/,
    ],
  ];
  for (const [answer, reason] of cases) {
    issuer.answer = answer;
    const timeout = reason.source.includes("within") ? 100 : PATIENCE;
    const { verdict } = trusting(issuer, {}, { timeout, size: 10_000 });
    assert.match(await verdict(token), reason);
  }
  assert.equal(issuer.asked.includes("/other"), false, "a redirect is not followed");
});

Deno.test("the address of the keys comes from the issuer's OpenID configuration when the rule names none", async () => {
  await using issuer = await TestIssuer.start();
  const rule: TokenRule = { issuer: issuer.url, audiences: ["mesh-ca"] };
  assert.equal(await fetchKeySet(rule), await issuer.keySet());
  assert.deepEqual(issuer.asked, ["/.well-known/openid-configuration", "/keys"]);
  const asked = fetchKeySet({ ...rule, issuer: `${issuer.url}/` });
  await assert.rejects(asked, { message: /openid-configuration: issuer: got "http:.+", expected "http:.+\/"/ });
  const inRule = await fetchKeySet({ ...rule, jwks: "{}" });
  assert.equal(inRule, "{}");
});

Deno.test("tokens that name no key are tried with each key that fits", async () => {
  await using issuer = await TestIssuer.start();
  await issuer.addKey("two");
  await issuer.addKey("rsa", "RS256");
  const { verdict } = trusting(issuer);
  const nameless = (at: number, alg?: string) => issuer.token({}, { ...issuer.keys[at]!, kid: undefined! }, alg);
  for (const token of [nameless(0), nameless(1), nameless(2, "RS256")]) {
    assert.equal(await verdict(await token), "cart");
  }
  await using forger = await TestIssuer.start();
  const forged = await issuer.token({}, { ...forger.keys[0]!, kid: undefined! });
  assert.match(await verdict(forged), /the signature is not by a key of the issuer/);
});

Deno.test("a key set of too many keys, or of another form, is refused with the reason", () => {
  const message = (text: string) => {
    try {
      parseKeySet(text);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(message(JSON.stringify({ keys: Array(MAX_KEYS).fill({}) })), "");
  assert.equal(
    message(JSON.stringify({ keys: Array(MAX_KEYS + 1).fill({}) })),
    "keys: got an array, expected at most 100 keys",
  );
  assert.equal(message("[]"), "the key set: got an array, expected a JSON Web Key Set");
  assert.equal(message('{"keys": 5}'), "keys: got 5, expected a list of keys");
});
