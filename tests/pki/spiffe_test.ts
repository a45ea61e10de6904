import assert from "node:assert/strict";
import { PkiError } from "../../lib/pki/pki_error.ts";
import { isSpiffeId, parseWorkloadIdentity, workloadUri } from "../../lib/pki/spiffe.ts";

const CART = { trustDomain: "cluster.local", namespace: "shop", serviceAccount: "cart" };

Deno.test("an identity is written and read as the same SPIFFE ID", () => {
  const uri = "spiffe://cluster.local/ns/shop/sa/cart";
  assert.equal(workloadUri(CART), uri);
  assert.deepEqual(parseWorkloadIdentity(uri), CART);
});

Deno.test("an @ in a trust domain is written as a dot", () => {
  assert.equal(workloadUri({ ...CART, trustDomain: "me@corp" }), "spiffe://me.corp/ns/shop/sa/cart");
});

Deno.test("other forms of a SPIFFE ID name no workload", () => {
  const refused = [
    "",
    "spiffe://cluster.local",
    "spiffe://cluster.local/ns/shop",
    "spiffe://cluster.local/ns/shop/sa/",
    "spiffe://cluster.local/ns//sa/cart",
    "spiffe:///ns/shop/sa/cart",
    "spiffe://cluster.local/ns/shop/sa/cart/",
    "spiffe://cluster.local/ns/shop/sa/cart/more",
    "spiffe://cluster.local/sa/cart/ns/shop",
    "spiffe://Cluster.local/ns/shop/sa/cart",
    "spiffe://cluster.local/ns/../sa/cart",
    "spiffe://cluster.local/ns/sh%6fp/sa/cart",
    "spiffe://cluster.local:80/ns/shop/sa/cart",
    "spiffe://cluster.local/ns/shop/sa/cart?x",
    "spiffe://cluster.local/ns/shop/sa/cart\n",
    "https://cluster.local/ns/shop/sa/cart",
    `spiffe://cluster.local/ns/shop/sa/${"a".repeat(2048)}`,
  ];
  assert.deepEqual(refused.filter((uri) => parseWorkloadIdentity(uri) !== undefined), []);
});

Deno.test("an identity that no SPIFFE ID can name is refused with the part at fault", () => {
  assert.throws(() => workloadUri({ ...CART, namespace: "a/b" }), (error) => {
    assert.ok(error instanceof PkiError);
    assert.match(error.message, /^namespace: expected letters.*, got "a\/b"$/);
    return true;
  });
  assert.throws(() => workloadUri({ ...CART, trustDomain: "" }), /^PkiError: trust domain: /);
  assert.throws(() => workloadUri({ ...CART, serviceAccount: ".." }), /^PkiError: service account: /);
});

Deno.test("any SPIFFE ID is accepted, whether or not it names a workload", () => {
  const right = ["spiffe://cluster.local", "spiffe://cluster.local/meshd", `spiffe://a.b/${"x".repeat(2034)}`];
  assert.deepEqual(right.filter((uri) => !isSpiffeId(uri)), []);
  const wrong = [
    ...["spiffe://", "spiffe:///x", "spiffe://cluster.local/", "spiffe://cluster.local//x", "spiffe://a.b/./x"],
    ...["spiffe://A.b/x", "spiffe://a.b/x y", "spiffe://a.b/x\n", "SPIFFE://a.b/x", `spiffe://${"a".repeat(256)}/x`],
    `spiffe://a.b/${"x".repeat(2036)}`,
  ];
  assert.deepEqual(wrong.filter(isSpiffeId), []);
});
