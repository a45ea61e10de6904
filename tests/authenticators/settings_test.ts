/** Settings written by operators: rules, ranges, audiences. */
import assert from "node:assert/strict";
import { isFrom, parseRanges } from "../../lib/authenticators/addresses.ts";
import { tokenAudiences } from "../../lib/authenticators/audiences.ts";
import { parseTokenRule } from "../../lib/authenticators/jwt_rule.ts";
import { ownTokenClaims } from "../../lib/authenticators/own_token.ts";
import { TestIssuer } from "./support/issuer.ts";

Deno.test("a rule is read in both spellings, without the fields that it does not set", () => {
  const rule = { issuer: "https://i.example", jwksUri: "https://i.example/keys", audiences: ["a"] };
  assert.deepEqual(parseTokenRule(JSON.stringify(rule)), rule);
  const { jwksUri, ...rest } = rule;
  assert.deepEqual(parseTokenRule(JSON.stringify({ ...rest, jwks_uri: jwksUri, fromHeaders: [] })), rule);
  assert.deepEqual(parseTokenRule('{"issuer":"https://i.example"}'), { issuer: rule.issuer, audiences: [] });
  assert.deepEqual(parseTokenRule('{"issuer":"me","jwks":"{}"}'), { issuer: "me", jwks: "{}", audiences: [] });
});

Deno.test("all mistakes in a rule are reported at once, each with field, value and expectation", () => {
  for (
    const [text, message] of [
      ["junk", /^the rule: expected JSON \(/],
      ["[]", /^the rule: got an array, expected an object with issuer, jwks_uri and audiences$/],
      [
        '{"jwks_uri":"file:///etc/keys","audiences":"a"}',
        /^issuer: got none, expected the issuer of the tokens\njwks_uri: got "file:.+", expected an address that begins with https:\/\/ or http:\/\/, without a user, a password and a fragment\naudiences: got "a", expected a list of audiences$/,
      ],
      ['{"issuer":"me"}', /^jwks_uri: got none, expected an address .+, because issuer "me" is not an address$/],
    ] as const
  ) {
    assert.throws(() => parseTokenRule(text), { name: "TypeError", message });
  }
});

Deno.test("either name of the authority's audience includes both; other audiences include only themselves", () => {
  assert.deepEqual(tokenAudiences("mesh-ca"), ["mesh-ca", "istio-ca"]);
  assert.deepEqual(tokenAudiences(" istio-ca , vault,"), ["istio-ca", "vault", "mesh-ca"]);
  assert.deepEqual(tokenAudiences("vault"), ["vault"]);
  assert.deepEqual(tokenAudiences(""), []);
});

Deno.test("ranges of addresses are read, wrong ranges are reported, and the loopback is always included", () => {
  const ranges = parseRanges("10.0.0.0/8, fd00::/8");
  const from = (address: string) => isFrom({ address }, ranges);
  for (const address of ["10.9.9.9:1", "::ffff:10.1.1.1:1", "fd12::1:80", "127.0.0.1:5", "::1:5"]) {
    assert.ok(from(address), address);
  }
  for (const address of ["11.0.0.1:1", "fe80::1:80", "/run/socket", "memory", "?:?", ""]) {
    assert.equal(from(address), false, address);
  }
  assert.throws(() => parseRanges("10.0.0.0/8, 10.0.0.1, x/3"), {
    name: "TypeError",
    message: /^got "10\.0\.0\.1", "x\/3", expected ranges of addresses/,
  });
});

Deno.test("the server's own token says who issues tokens here", async () => {
  await using issuer = await TestIssuer.start();
  assert.deepEqual(ownTokenClaims(`${await issuer.token()}\n`), { issuer: issuer.url, audiences: ["mesh-ca"] });
  assert.deepEqual(ownTokenClaims(await issuer.token({ aud: ["a", "b"] })).audiences, ["a", "b"]);
  assert.throws(() => ownTokenClaims("junk"), { name: "TypeError", message: /^expected a token \(JWT\): / });
});
