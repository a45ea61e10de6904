/**
 * Webhooks show a certificate no earlier than the API can know its root, and keep roots for as long as others may need
 * them.
 */
import assert from "node:assert/strict";
import { WebhookIdentity } from "../../lib/discovery/identity/webhook_identity.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { CurrentValue } from "../../lib/pki/current.ts";

const pem = (name: string) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
const leaf = (name: string) => ({ certificatePem: pem(name), keyPem: name });
const SECOND = 1000, MINUTE = 60 * SECOND;

function started(roots = pem("root1")) {
  const clock = createFakeClock();
  const own = new CurrentValue(leaf("leaf1"));
  const ownRoots = new CurrentValue(roots);
  const shown = new WebhookIdentity(own, ownRoots, clock);
  return { clock, own, ownRoots, shown, leafNow: () => shown.identity.current().keyPem };
}

Deno.test("a new leaf of the same roots is shown at once", () => {
  const { own, leafNow } = started();
  own.set(leaf("leaf2"));
  assert.equal(leafNow(), "leaf2");
});

Deno.test("new roots are handed out at once beside the old roots, their leaf follows, and the old roots go later", async () => {
  const { clock, own, ownRoots, shown, leafNow } = started();
  ownRoots.set(pem("root2"));
  own.set(leaf("leaf2"));
  assert.deepEqual([shown.roots.current(), leafNow()], [pem("root2") + pem("root1"), "leaf1"]);
  await clock.advance(9 * SECOND);
  assert.equal(leafNow(), "leaf1");
  await clock.advance(1 * SECOND);
  assert.deepEqual([shown.roots.current(), leafNow()], [pem("root2") + pem("root1"), "leaf2"]);
  await clock.advance(10 * MINUTE);
  assert.equal(shown.roots.current(), pem("root2"));
});

Deno.test("of leaves that come while one waits the last is shown, never the first", async () => {
  const { clock, own, ownRoots, leafNow } = started();
  ownRoots.set(pem("root2"));
  own.set(leaf("leaf2"));
  await clock.advance(5 * SECOND);
  own.set(leaf("leaf3"));
  await clock.advance(5 * SECOND);
  assert.equal(leafNow(), "leaf3");
  assert.equal(clock.pending(), 1, "the end of the old roots alone is waited for");
});

Deno.test("roots that both lists have are handed out once; roots that come back stay; many changes keep few", async () => {
  const { clock, ownRoots, shown } = started(pem("root1") + pem("shared"));
  ownRoots.set(pem("root2") + pem("shared"));
  assert.equal(shown.roots.current(), pem("root2") + pem("shared") + pem("root1"));
  ownRoots.set(pem("root1") + pem("shared"));
  await clock.advance(10 * MINUTE);
  assert.equal(shown.roots.current(), pem("root1") + pem("shared"));
  for (let i = 0; i < 100; i++) ownRoots.set(pem(`many${i}`));
  assert.equal(shown.roots.current(), [99, 98, 97, 96].map((i) => pem(`many${i}`)).join(""));
  shown.stop();
  assert.equal(clock.pending(), 0);
});

Deno.test("the first roots, which arrive when no roots are known, leave no waiting listener behind", () => {
  const { ownRoots, shown, clock } = started("");
  ownRoots.set(pem("root1"));
  assert.equal(shown.roots.current(), pem("root1"));
  assert.equal(clock.pending(), 0);
});
