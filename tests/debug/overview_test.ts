/** The overview says whether everything is all right, and findings by code count the proxies that they concern. */
import assert from "node:assert/strict";
import { certificateState, isReplaced } from "../../lib/debug/certificates.ts";
import { meshOverview } from "../../lib/debug/overview.ts";
import type { CertificateView, DebugView } from "../../lib/debug/view.ts";
import { page, withServer } from "../discovery/running.ts";
import { PATIENCE } from "../patience.ts";
import { TestProxy } from "./proxy.ts";

function entry(name: string, more = ""): string {
  return `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]${more}
---
`;
}

const LOST = `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: lost, namespace: x }
spec:
  hosts: [a.example.com]
  http: [{ route: [{ destination: { host: nowhere.example.com } }] }]
---
`;

async function json(port: number, path: string) {
  return JSON.parse((await page(port, `/debug/${path}`)).body);
}

Deno.test("a mesh without faults is all right; an object with a lost effect is an error that concerns its proxies", async () => {
  await withServer({ "a.yaml": entry("a") }, async ({ ports, xds }, folder) => {
    assert.deepEqual((await json(ports.http, "overview")).concerns.map((one: { text: string }) => one.text), [
      "No proxy is connected",
    ]);
    using _one = await TestProxy.attach(ports.grpc);
    using _other = await TestProxy.attach(ports.grpc, { id: "sidecar~10.0.0.2~b.y~y.svc.cluster.local" });
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    const good = await json(ports.http, "overview");
    assert.deepEqual([good.verdict, good.concerns], [{ tone: "good", word: "Everything is all right" }, []]);
    assert.deepEqual(good.proxies, { synced: 2, behind: 0, rejecting: 0, failing: 0 });
    assert.deepEqual(good.sources, [{ sort: "folder", name: folder }]);
    assert.equal(good.pushes.length, 60);
    assert.ok(good.memory.heapUsed < good.memory.heapLimit && good.memory.heapUsed > 0);

    await Deno.writeTextFile(`${folder}/lost.yaml`, LOST);
    await page(ports.http, "/debug/live?object=VirtualService/x/lost&wait=60s");
    const bad = await json(ports.http, "overview");
    assert.deepEqual([bad.verdict.tone, bad.concerns[0].text], ["bad", "1 error in configuration"]);
    const [group] = await json(ports.http, "findings_by_code");
    assert.deepEqual([group.code, group.severity, group.count, group.proxies], ["MSH0101", "error", 1, 2]);
    assert.deepEqual(group.objects, [{ key: "VirtualService/x/lost", name: "VirtualService/x/lost" }]);
    assert.deepEqual(await json(ports.http, "findings_by_code?severity=info"), []);
    const rows = await json(ports.http, "finding_codes?code=MSH0101");
    assert.ok(rows.some(({ name }: { name: string }) => name === "unknown-host"), JSON.stringify(rows));
  });
});

const DAY = 86_400_000;

function certificate(
  role: CertificateView["role"],
  from: number,
  to: number,
  fingerprint: string = role,
): CertificateView {
  return { role, subject: "CN=one", fingerprint, notBefore: from * DAY, notAfter: to * DAY };
}

/** The concerns of an otherwise faultless server on day 100. */
function concerns(parts: Partial<DebugView>): readonly string[] {
  const none = {
    ...{ findings: () => [], warnings: () => [], ready: () => true, now: () => 100 * DAY, certificates: () => [] },
    ...{
      sources: () => [],
      memory: () => ({ resident: 1, heapUsed: 1, heapLimit: 2 }),
      analysis: { findings: () => [] },
    },
    ...{ store: { size: 0 }, services: { serviceCount: 0 } },
    xds: {
      streams: () => [{ progress: { acked: 1, failing: () => false, refusals: { refuses: false } } }],
      ledger: { latest: 1, minutes: { lastHour: () => [] } },
    },
  };
  return meshOverview({ ...none, ...parts } as unknown as DebugView).concerns.map(({ tone, text }) =>
    `${tone}: ${text}`
  );
}

Deno.test("certificates near their end, sources that are not followed and a full heap are concerns, the worst first", () => {
  assert.deepEqual(concerns({}), []);
  assert.deepEqual(
    concerns({
      certificates: () => [certificate("signing", 0, 105), certificate("server", 90, 99), certificate("root", 0, 9000)],
      sources: () => [{ sort: "cluster", name: "east", problem: "no answer", since: 98 * DAY }],
      memory: () => ({ resident: 1, heapUsed: 9, heapLimit: 10 }),
    }),
    [
      "bad: The server's certificate CN=one ended 24 hours ago",
      "bad: The cluster east is not followed, for 2 days: no answer",
      "warn: The signing certificate CN=one ends in 5 days",
      "warn: 90 % of the heap is in use",
    ],
  );
});

Deno.test("the end of a root is a concern only while no other valid root takes its place", () => {
  const old = certificate("root", 0, 101, "old");
  assert.equal(certificateState(old, 100 * DAY).tone, "warn");
  assert.equal(isReplaced(old, [old, certificate("root", 200, 900, "next")], 100 * DAY), false);
  assert.equal(isReplaced(old, [old, certificate("root", 90, 900, "next")], 100 * DAY), true);
  assert.equal(concerns({ certificates: () => [old, certificate("root", 90, 900, "next")] }).length, 0);
  assert.equal(concerns({ certificates: () => [old] }).length, 1);
});
