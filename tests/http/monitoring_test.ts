/** Metrics and version: clients with the right to read, and addresses. */
import assert from "node:assert/strict";
import type { RequestHead } from "../../lib/http/message.ts";
import { monitoringRoutes } from "../../lib/http/monitoring.ts";
import { Router } from "../../lib/http/router.ts";
import { refusalOf } from "../../lib/http/route.ts";
import { HttpServer } from "../../lib/http/server.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createMetrics } from "../../lib/kernel/metrics/registry.ts";

const head = (path: string, address: string, host = "localhost"): RequestHead => ({
  ...{ method: "GET", path, query: new URLSearchParams(), headers: {}, host, peer: { address } },
});

/** The status of a refusal; undefined: the page is shown. */
async function refused(localOnly: boolean, asked: RequestHead): Promise<number | undefined> {
  const found = await new Router(monitoringRoutes(createMetrics("install-cni"), { localOnly, names: [] })).find(asked);
  return "route" in found ? (await refusalOf(found.route, asked))?.status : found.status;
}

Deno.test("METRICS_LOCALHOST_ACCESS_ONLY: metrics are for clients of this machine, the version is for all", async () => {
  for (const address of ["127.0.0.1:1", "127.1.2.3:1", "::1:1", "::ffff:127.0.0.1:1"]) {
    assert.equal(await refused(true, head("/metrics", address)), undefined, address);
  }
  for (const address of ["10.0.0.1:1", "::ffff:10.0.0.1:1", "fd00::1:1", "::10:1", "::1:5:80", "?:?"]) {
    assert.equal(await refused(true, head("/metrics", address)), 403, address);
    assert.equal(await refused(true, head("/version", address)), undefined, address);
    assert.equal(await refused(false, head("/metrics", address)), undefined, address);
  }
});

Deno.test("METRICS_LOCALHOST_ACCESS_ONLY: a browser of this machine shows them to no page of another name", async () => {
  assert.equal(await refused(true, head("/metrics", "127.0.0.1:1", "evil.example.com")), 403);
  assert.equal(await refused(false, head("/metrics", "10.0.0.1:1", "meshd.mesh-system:15014")), undefined);
});

Deno.test("clients are known by their address in both families", async () => {
  const routes = monitoringRoutes(createMetrics("install-cni"), { localOnly: true, names: [] });
  const server = new HttpServer({ routes, log: silentLog().scope("x") });
  const { port } = await server.listen(":0");
  for (const host of ["127.0.0.1", "[::1]"]) {
    const response = await fetch(`http://${host}:${port}/metrics`);
    assert.match(await response.text(), /^# HELP /, host);
  }
  await server.close();
});
