/** The command `size` as a process: the answer with its rows, as text and JSON, and mistakes of flags. */
import assert from "node:assert/strict";
import { pilotDiscovery } from "./offline.ts";

Deno.test("the answer names replicas, figures and the measured rows behind them, with the machine", async () => {
  const { code, out, err } = await pilotDiscovery(["size", "--services", "800", "--proxies", "250"]);
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /^For 800 services and 250 proxies: 2 replicas of meshd/);
  assert.match(out, /at most \d+ MiB +memory of a replica while all its proxies reconnect\n/);
  assert.match(out, /resources of meshd: \{requests: \{cpu: 500m, memory: \d+Mi\}, limits: \{memory: \d+Mi\}\}/);
  assert.match(out, /Rests on docs\/benchmarks\.md \(.+, \d{4}-\d{2}-\d{2} /);
  assert.match(out, /\d+ MiB +400 proxies, delta, gzip, mutual TLS: all connect; at peak\n/);
});

Deno.test("beyond the measured sizes no limit is suggested, and the figures are lower bounds", async () => {
  const { out } = await pilotDiscovery(["size", "--services", "9000", "--proxies", "30"]);
  assert.match(out, /at least \d+ MiB +memory of a replica, all its proxies connected\n/);
  assert.match(out, /beyond what was measured/);
  assert.match(out, /no limit of memory/);
});

Deno.test("-o json has the same for programs", async () => {
  const { code, out } = await pilotDiscovery(["size", "--services", "2000", "--proxies", "900", "-o", "json"]);
  const { replicas, lines, rows, resources, measuredOn } = JSON.parse(out);
  assert.deepEqual([code, replicas], [0, 4]);
  assert.ok(lines.every((line: { id: string; estimate: { rows: unknown[] } }) => line.estimate.rows.length > 0));
  assert.ok(rows.length > 0 && resources.request > 0 && measuredOn.processor !== undefined);
});

Deno.test("missing and wrong numbers are refused all at once", async () => {
  const { code, err } = await pilotDiscovery(["size", "--replicas", "-1"]);
  assert.equal(code, 2);
  for (const flag of ["services", "proxies", "replicas"]) assert.match(err, new RegExp(`flag --${flag}: got `));
});
