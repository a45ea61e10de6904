/** Conditions on the identity of a caller with an unknown account are judged where the account does not matter. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { isCaller } from "../../lib/simulate/rbac.ts";
import { NotJudged } from "../../lib/simulate/matchers.ts";
import { identityMatcher, namespaceMatcher, serviceAccountMatcher } from "../../lib/translate/authorization/values.ts";
import { runs } from "../properties.ts";

const START = "spiffe://td/ns/shop/sa/";

const matcher = fc.oneof(
  fc.constantFrom(
    ...[
      "*",
      "td/ns/shop/sa/cart",
      "td/ns/shop/*",
      "td/ns/shop/sa/c*",
      "td/ns/other/sa/cart",
      "*/sa/cart",
      "*cart",
      "td*",
    ],
    ...["*/ns/shop/sa/cart", "*/ns/other/sa/cart", "*a"],
  ).map(identityMatcher),
  fc.constantFrom("shop", "sho", "s*", "*", "*op", "other").map(namespaceMatcher),
  fc.constantFrom("cart", "shop/cart", "other/cart", "shop/pay").map((value) => serviceAccountMatcher(value, "shop")),
);

Deno.test("a verdict on a caller without a known account is that on every account", () => {
  const accounts = ["cart", "pay", "a", "zoo.cart", "c-1", "s"];
  let judged = 0;
  fc.assert(
    fc.property(matcher, (condition) => {
      const each = accounts.map((account) => isCaller(condition, { identity: START + account }));
      try {
        const verdict = isCaller(condition, { identityStart: START });
        judged++;
        assert.deepEqual(each, accounts.map(() => verdict));
      } catch (error) {
        assert.ok(error instanceof NotJudged);
      }
    }),
    { numRuns: runs(300) },
  );
  assert.ok(judged > 100, `${judged} of 300`);
});

Deno.test("namespaces of such a caller are always judged, and an account that a condition names never is", () => {
  for (const [value, verdict] of [["shop", true], ["*", true], ["other", false], ["sho", false]] as const) {
    assert.equal(isCaller(namespaceMatcher(value), { identityStart: START }), verdict, value);
  }
  const named = [identityMatcher("td/ns/shop/sa/cart"), serviceAccountMatcher("cart", "shop")];
  for (const one of named) assert.throws(() => isCaller(one, { identityStart: START }), NotJudged);
  assert.throws(() => isCaller(undefined, {}), NotJudged);
});
