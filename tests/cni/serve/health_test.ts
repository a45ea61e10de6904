/** Pages of the node agent: who may read them, and on which addresses they are. */
import assert from "node:assert/strict";
import { metricPages, onAllAddresses, servePages } from "../../../lib/cni/serve/health.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";

Deno.test("METRICS_LOCALHOST_ACCESS_ONLY: metrics are for callers on this machine, the version is for all", async () => {
  const page = metricPages(createMetrics("install-cni"), true);
  const status = async (path: string, caller: string) => (await page(path, caller))?.status;
  for (const caller of ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"]) {
    assert.equal(await status("/metrics", caller), 200, caller);
  }
  for (const caller of ["10.0.0.1", "::ffff:10.0.0.1", "fd00::1", "::10"]) {
    assert.equal(await status("/metrics", caller), 403, caller);
    assert.equal(await status("/version", caller), 200, caller);
  }
  const open = await metricPages(createMetrics("install-cni"), false)("/metrics", "10.0.0.1");
  assert.equal(open?.status, 200);
});

Deno.test("callers are known by their address in both families", async () => {
  const callers: string[] = [];
  const server = servePages(0, (_path, caller) => new Response(String(callers.push(caller))), () => assert.fail());
  for (const host of ["127.0.0.1", "[::1]"]) await (await fetch(`http://${host}:${server.port}/`)).text();
  await server.stop();
  assert.deepEqual(callers.map((caller) => caller.replace("::ffff:", "")), ["127.0.0.1", "::1"]);
});

Deno.test("on a machine without IPv6 pages are on IPv4; a port in use is a port in use", () => {
  const asked: string[] = [];
  const listening = (failure: Error | undefined) => () =>
    onAllAddresses((hostname) => {
      asked.push(hostname);
      if (failure !== undefined && hostname === "::") throw failure;
      return hostname;
    });
  assert.equal(listening(undefined)(), "::");
  assert.equal(listening(new Error("Address family not supported by protocol (os error 97)"))(), "0.0.0.0");
  assert.throws(listening(new Deno.errors.AddrInUse("in use")), Deno.errors.AddrInUse);
  assert.deepEqual(asked, ["::", "::", "0.0.0.0", "::"]);
});
