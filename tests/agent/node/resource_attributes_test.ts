import assert from "node:assert/strict";
import { resourceAttributes } from "../../../lib/agent/node/resource_attributes.ts";

Deno.test("the service's name comes first, unless the user names the service, and attributes that Envoy cannot read are left out", () => {
  const of = (written: string | undefined) => resourceAttributes(written, "cart.shop");
  assert.equal(of(undefined), "service.name=cart.shop");
  assert.equal(of(""), "service.name=cart.shop");
  assert.equal(of("team=a, zone=b"), "service.name=cart.shop,team=a,zone=b");
  assert.equal(of("team=a,service.name=mine"), "team=a,service.name=mine");
  assert.equal(of("broken,=x,y=,a=b=c,,team=a"), "service.name=cart.shop,team=a");
  assert.equal(resourceAttributes("", "a,b=c"), "service.name=a_b_c");
});
