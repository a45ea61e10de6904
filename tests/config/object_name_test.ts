import assert from "node:assert/strict";
import { formatFinding, lossOf } from "../../lib/finding/finding.ts";
import { keyText, objectName, objectText } from "../../lib/finding/object_name.ts";

Deno.test("an object is named by kind, namespace and name, and an object of a cluster-wide kind by kind and name", () => {
  assert.deepEqual(objectName("Gateway/shop/door"), { kind: "Gateway", namespace: "shop", name: "door" });
  assert.equal(keyText("Gateway/shop/door"), "Gateway shop/door");
  assert.equal(keyText("GatewayClass//edge"), "GatewayClass edge");
  assert.equal(objectText({ kind: "", namespace: "", name: "" }), "");
});

Deno.test("the line of a finding names a cluster-wide object without a namespace", () => {
  const found = lossOf("not-as-written", ["GatewayClass//edge"], "nothing");
  assert.match(formatFinding(found), /^GatewayClass edge: error: nothing$/);
});
