import assert from "node:assert/strict";
import type { OpenRewriter, RewriteTarget } from "../../../lib/agent/relay/relay.ts";
import { lateRewriter } from "../../../lib/agent/start/wasm_modules.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";

const log = silentLog().scope("wasm");
const bytes = (value: number) => Uint8Array.of(value);

/** Resolves when every callback of settled promises has run. */
const allCallbacks = () => new Promise((resolve) => setTimeout(resolve));

/** A rewriter that adds ten to every byte, and the bytes for the proxy. */
function world() {
  const sent: number[] = [];
  const closed: string[] = [];
  const asked: number[] = [];
  const target: RewriteTarget = { send: ([value]) => void sent.push(value!), refuse() {} };
  const real: OpenRewriter = (variant, target) => ({
    take: ([value]) => target.send(bytes(value! + 10)),
    asked: ([value]) => void asked.push(value!),
    close: () => void closed.push(variant),
  });
  return { sent, closed, asked, target, real };
}

Deno.test("a rewriter is loaded with the first response, and responses stay in their order while it loads", async () => {
  const { sent, closed, target, real } = world();
  const loading = Promise.withResolvers<OpenRewriter>();
  let loads = 0;
  const open = lateRewriter(() => (loads++, loading.promise), log);
  const rewriter = open("delta", target);
  assert.equal(loads, 0);
  for (const value of [1, 2]) rewriter.take(bytes(value));
  assert.deepEqual([loads, sent], [1, []]);
  loading.resolve(real);
  rewriter.take(bytes(3));
  await allCallbacks();
  assert.deepEqual([loads, sent], [1, [11, 12, 13]]);
  rewriter.close();
  await allCallbacks();
  assert.deepEqual(closed, ["delta"]);
});

Deno.test("a connection that ends while its rewriter loads gets nothing, and the rewriter is closed", async () => {
  const { sent, closed, target, real } = world();
  const rewriter = lateRewriter(() => Promise.resolve(real), log)("sotw", target);
  rewriter.take(bytes(1));
  rewriter.close();
  await allCallbacks();
  assert.deepEqual([sent, closed], [[], ["sotw"]]);
});

Deno.test("where the rewriter cannot be loaded responses go to the proxy as they came", async () => {
  const { sent, target } = world();
  const rewriter = lateRewriter(() => Promise.reject(new Error("no such file")), log)("delta", target);
  for (const value of [1, 2]) rewriter.take(bytes(value));
  await allCallbacks();
  assert.deepEqual(sent, [1, 2]);
});

Deno.test("a loaded rewriter hears the proxy's subscriptions; a subscription alone loads no rewriter", async () => {
  const { asked, target, real } = world();
  let loads = 0;
  const rewriter = lateRewriter(() => (loads++, Promise.resolve(real)), log)("delta", target);
  rewriter.asked(bytes(1));
  assert.equal(loads, 0);
  rewriter.take(bytes(2));
  rewriter.asked(bytes(3));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual([loads, asked], [1, [3]]);
  rewriter.close();
});
