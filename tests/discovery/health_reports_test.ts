import assert from "node:assert/strict";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { HealthReports, startHealthReports } from "../../lib/discovery/registration/health_reports.ts";
import { NodeReader } from "../../lib/discovery/pipeline/node_reader.ts";
import { createStopper } from "../../lib/kernel/lifecycle/stop.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { struct } from "../../lib/pb/wellknown.ts";

const GRACE = 10_000;
const VM = "spiffe://cluster.local/ns/shop/sa/vm";

/** Reports, with the health in the registry for each place. */
function world(validateIdentity = true) {
  const clock = createFakeClock();
  const health = new Map<string, string>();
  let changes = 0;
  const lines: string[] = [];
  const entries: ConstructorParameters<typeof HealthReports>[0] = {
    setHealth(place, report) {
      changes++;
      const key = "name" in place ? `${place.namespace}/${place.name}` : `${place.namespace} ${place.address}`;
      if (report === undefined) health.delete(key);
      else health.set(key, `${report.healthy} by ${report.serviceAccount}`);
    },
  };
  const log = Object.assign(silentLog().scope("wle"), { info: (line: unknown) => void lines.push(String(line)) });
  const reports = new HealthReports(entries, { validateIdentity, grace: GRACE, clock, log });
  const nodes = new NodeReader({ vhds: false, clusterId: "c1", clusterAliases: {} });
  const open = (metadata: Record<string, unknown> = {}, identity = VM) => {
    const node = { id: "sidecar~10.0.0.1~vm-1.shop~shop.svc.cluster.local", metadata: struct(metadata) };
    return reports.open(
      nodes.read(node, true, defaultMeshConfig({ systemNamespace: "mesh-system" })),
      identity || undefined,
    );
  };
  return { clock, health, reports, open, of: () => Object.fromEntries(health), changes: () => changes, lines };
}

Deno.test("a report counts for the entry that the node names, else for its addresses, with the proven service account", () => {
  const { open, of } = world();
  open({ WORKLOAD_ENTRY: "vm-1" })!.report({ healthy: true });
  assert.deepEqual(of(), { "shop/vm-1": "true by vm" });
  open({ INSTANCE_IPS: "10.0.0.1,2001:DB8::1" })!.report({ healthy: false, reason: "x" });
  assert.deepEqual(of(), {
    "shop/vm-1": "true by vm",
    "shop 10.0.0.1": "false by vm",
    "shop 2001:db8::1": "false by vm",
  });
});

Deno.test("a proxy without a proven identity of its node's namespace is not believed, and of a thousand addresses a few count", () => {
  const { open, of } = world();
  assert.equal(open({}, ""), undefined);
  assert.equal(open({}, "spiffe://cluster.local/ns/other/sa/vm"), undefined);
  assert.equal(open({}, "not a SPIFFE ID"), undefined);
  const many = Array.from({ length: 1000 }, (_, i) => `10.1.${i >> 8}.${i & 255}`).join(",");
  open({ INSTANCE_IPS: many })!.report({ healthy: true });
  assert.ok(Object.keys(of()).length <= 4);
});

Deno.test("MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY=false believes everybody, about its own namespace, for any service account", () => {
  const { open, of } = world(false);
  open({}, "")!.report({ healthy: true });
  assert.deepEqual(of(), { "shop 10.0.0.1": "true by undefined" });
});

Deno.test("a report lives as long as its stream and its grace; a newer stream's is its own", async () => {
  const { clock, open, of, reports } = world();
  const [first, second] = [open()!, open()!];
  first.report({ healthy: true });
  first.close();
  await clock.advance(GRACE - 1);
  assert.deepEqual(of(), { "shop 10.0.0.1": "true by vm" });
  second.report({ healthy: false });
  await clock.advance(GRACE);
  assert.deepEqual(of(), { "shop 10.0.0.1": "false by vm" }, "the grace of the first stream has nothing to say");
  first.close();
  await clock.advance(GRACE);
  assert.deepEqual(of(), { "shop 10.0.0.1": "false by vm" });
  second.close();
  await clock.advance(GRACE);
  assert.deepEqual(of(), {});
  second.close();
  assert.equal(clock.pending(), 0);
  const third = open()!;
  third.report({ healthy: true });
  third.close();
  reports.stop();
  assert.equal(clock.pending(), 0);
});

Deno.test("an agent that repeats a report changes nothing, and an agent that alternates is logged at most a hundred times", () => {
  const { open, changes, lines } = world();
  const stream = open({ WORKLOAD_ENTRY: "vm-1" })!;
  for (let i = 0; i < 1000; i++) stream.report({ healthy: true });
  assert.deepEqual([changes(), lines.length], [1, 1]);
  for (let i = 0; i < 1000; i++) stream.report({ healthy: false, reason: `${i}` });
  assert.equal(changes(), 2, "another reason is no other health");
  for (let i = 0; i < 1000; i++) stream.report({ healthy: i % 2 === 0 });
  assert.deepEqual([changes(), lines.length], [1002, 100]);
  open({ WORKLOAD_ENTRY: "vm-1" })!.report({ healthy: false });
  assert.deepEqual([changes(), lines.length], [1003, 101], "another stream has its own say");
});

Deno.test("after a start reports are awaited for as long as agents may pause, unless other servers keep their reports", async () => {
  const start = (keeper?: Parameters<typeof startHealthReports>[3]) => {
    const clock = createFakeClock();
    const seen: string[] = [];
    const entries = {
      setHealth() {},
      awaitReports() {
        seen.push("begun");
        return () => void seen.push("over");
      },
    };
    const stopper = createStopper(1000, clock);
    const settings = { MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY: true, PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: GRACE };
    startHealthReports(entries, settings, { clock, log: silentLog(), stopper }, keeper);
    return { clock, seen, stop: () => stopper.stop() };
  };
  const alone = start();
  await alone.clock.advance(29_999);
  assert.deepEqual(alone.seen, ["begun"]);
  await alone.clock.advance(1);
  assert.deepEqual(alone.seen, ["begun", "over"]);
  const stopped = start();
  await stopped.stop();
  assert.equal(stopped.clock.pending(), 0);
  assert.deepEqual(start({ report() {}, leave() {} }).seen, []);
});
