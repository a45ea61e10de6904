import assert from "node:assert/strict";
import { notReady, ProxyReadiness } from "../../../lib/agent/status/readiness.ts";

/** Statistics in Envoy's form. */
function stats(cds: number, lds: number, state: number, workers: number): string {
  return `cluster_manager.cds.update_success: ${cds}\nlistener_manager.lds.update_success: ${lds}\n` +
    `listener_manager.workers_started: ${workers}\nserver.state: ${state}\n`;
}

Deno.test("a proxy is ready with clusters, listeners, a live server and workers; the missing condition is named", () => {
  const cases = [
    [stats(1, 2, 0, 1), undefined],
    [stats(0, 0, 2, 0), "the proxy has had no clusters and no listeners yet"],
    [stats(1, 0, 2, 0), "the proxy has had no listeners yet"],
    [stats(1, 1, 2, 0), "the proxy is not live yet"],
    [stats(1, 1, 0, 0), "the proxy's workers have not started yet"],
    ["", "the proxy has had no clusters and no listeners yet"],
  ] as const;
  for (const [text, reason] of cases) assert.equal(notReady(text), reason, text);
});

Deno.test("many probes at once ask Envoy once; a ready Envoy is not asked again until it drains", async () => {
  let asked = 0;
  let answer = stats(1, 0, 2, 0);
  const readiness = new ProxyReadiness({
    page: () => {
      asked++;
      return Promise.resolve(answer);
    },
  }, []);
  const reasons = await Promise.all(Array.from({ length: 100 }, () => readiness.reason()));
  assert.deepEqual([...new Set(reasons)], ["the proxy has had no listeners yet"]);
  assert.equal(asked, 1);
  answer = stats(1, 1, 0, 1);
  assert.equal(await readiness.reason(), undefined);
  answer = "";
  assert.equal(await readiness.reason(), undefined);
  assert.equal(asked, 2);
  readiness.drain();
  assert.equal(await readiness.reason(), "the proxy is draining");
});

Deno.test("a proxy that does not answer is not ready, with its reason", async () => {
  const readiness = new ProxyReadiness({ page: () => Promise.reject(new Error("admin page stats: refused")) }, []);
  assert.equal(await readiness.reason(), "admin page stats: refused");
});
