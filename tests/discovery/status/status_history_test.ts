/** The memory of written statuses. */
import assert from "node:assert/strict";
import { StatusHistory } from "../../../lib/discovery/status/status_history.ts";

Deno.test("an equal status waits for a minute, and the writes of removed objects are forgotten", () => {
  let now = 0;
  const history = new StatusHistory({ monotonic: () => now });
  for (let index = 0; index < 1000; index++) history.note(`uid-${index}`, { index });
  now = 59_999;
  history.note("uid-0", { index: "new" });
  assert.equal(history.wroteNow("uid-1", { index: 1 }), true);
  assert.equal(history.wroteNow("uid-1", { index: 2 }), false, "another status");
  assert.equal(history.size, 1000);
  now = 60_000;
  assert.equal(history.wroteNow("uid-1", { index: 1 }), false);
  history.note("uid-new", {});
  assert.equal(history.size, 2, "uid-0, whose last write is young, and uid-new");
  assert.equal(history.wroteNow("uid-0", { index: "new" }), true);
});
