/** The announcement of an immediate push. */
import assert from "node:assert/strict";
import type { PushEvent } from "../../lib/xds/protocol/source.ts";
import { Fixture } from "./fixture.ts";

Deno.test("a push without waiting changes says that all may have changed; one with them has their reasons", () => {
  const { pipeline } = new Fixture();
  const pushes: PushEvent[] = [];
  pipeline.onPush((push) => pushes.push(push));
  pipeline.flush();
  pipeline.lookAgain("debug");
  pipeline.flush();
  assert.deepEqual(pushes.map(({ reasons, full }) => ({ reasons, full })), [
    { reasons: {}, full: true },
    { reasons: { debug: 1 }, full: true },
  ]);
});
