import assert from "node:assert/strict";
import { carriesLabels } from "../../../lib/config/schema/labels.ts";

Deno.test("labels carry wanted labels if every wanted label is there with its value", () => {
  assert.ok(carriesLabels({ app: "cart", version: "v1" }, { app: "cart" }));
  assert.ok(carriesLabels({}, {}));
  assert.ok(!carriesLabels({ app: "cart" }, { app: "cart", version: "v1" }));
  assert.ok(!carriesLabels({ app: "cart" }, { app: "shop" }));
});
