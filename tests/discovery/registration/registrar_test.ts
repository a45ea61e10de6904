import assert from "node:assert/strict";
import { desiredRegistration, entryName, groupEntry } from "../../../lib/discovery/registration/group_entry.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { GRACE, machine, replicas, VM, workloadGroup } from "./replicas.ts";

const GROUP = workloadGroup({
  metadata: { labels: { app: "store", tier: "group" }, annotations: { note: "x" } },
  template: { labels: { tier: "template" }, serviceAccount: "vm", ports: { http: 8080 }, weight: 3, network: "n0" },
});

Deno.test("an entry has the template's ports, weight and account, and the labels of the proxy before the group's before the template's", () => {
  const proxy = machine(
    "10.0.0.1",
    { LABELS: { app: "mine" }, NETWORK: "n1", PROXY_CONFIG: { readinessProbe: {} } },
    "r1",
  );
  const made = groupEntry(GROUP as ConfigObject<"WorkloadGroup">, desiredRegistration(proxy)!);
  assert.ok("entry" in made);
  const { meta, spec } = made.entry;
  assert.equal(meta.name, "machines-10.0.0.1-n1");
  assert.deepEqual(meta.labels, { app: "mine", tier: "group" });
  assert.deepEqual(meta.annotations, {
    note: "x",
    "mesh.io/autoRegistrationGroup": "machines",
    "proxy.mesh.io/health-checks-enabled": "true",
  });
  assert.deepEqual(spec, {
    labels: { app: "mine", tier: "group" },
    ...{ serviceAccount: "vm", ports: { http: 8080 }, weight: 3, network: "n1", locality: "r1", address: "10.0.0.1" },
  });
});

Deno.test("names have dashes for the colons of an address, and of a long name its last 253 characters", () => {
  assert.equal(entryName("g", "fd00::1", ""), "g-fd00--1");
  const long = entryName("g".repeat(300), "10.0.0.1", "n");
  assert.equal(long.length, 253);
  assert.match(long, /g-10\.0\.0\.1-n$/);
});

Deno.test("a proxy without a group, an identity or its own namespace and account is refused, and nothing is made", async () => {
  const world = replicas();
  const code = (proxy = machine("10.0.0.1"), identity: string | undefined = VM) => {
    try {
      world.open(0, proxy, identity);
    } catch (error) {
      return (error as { code: number }).code;
    }
    return 0;
  };
  assert.equal(code(), 9, "FAILED_PRECONDITION: there is no group");
  world.user.apply({ upserted: [GROUP], removed: [] });
  assert.equal(world.servers[0]!.registrar.open(machine("10.0.0.1"), VM) !== undefined, true);
  await world.settle();
  const before = world.said();
  for (const identity of ["", "spiffe://cluster.local/ns/other/sa/vm", "spiffe://cluster.local/ns/shop/sa/else"]) {
    assert.equal(code(machine("10.0.0.2"), identity), 7, `PERMISSION_DENIED: ${identity}`);
    assert.equal(code(machine("10.0.0.1"), identity), 7, "nor may it have the entry of another one");
  }
  assert.equal(code(machine("10.0.0.3", { LABELS: { "not a label!": "x" } })), 3, "INVALID_ARGUMENT");
  await world.settle();
  assert.deepEqual(world.said(), before);
  await world.end();
});

Deno.test("an entry stays for the grace period after the last stream, and a stream in that time keeps it", async () => {
  const world = replicas();
  world.user.apply({ upserted: [GROUP], removed: [] });
  world.lead(0);
  const [first, second] = [world.open(0), world.open(0)];
  await world.settle();
  assert.deepEqual(world.said(), ["machines-10.0.0.1 server-0"]);
  first.close();
  await world.clock.advance(10 * GRACE);
  assert.deepEqual(world.said(), ["machines-10.0.0.1 server-0"]);
  second.close();
  await world.clock.advance(GRACE - 1);
  assert.deepEqual(world.said(), ["machines-10.0.0.1 left"]);
  const third = world.open(0);
  await world.clock.advance(10 * GRACE);
  assert.deepEqual(world.said(), ["machines-10.0.0.1 server-0"]);
  third.close();
  await world.clock.advance(GRACE + 1);
  assert.deepEqual(world.said(), []);
  const page = (await world.metrics.scrape()).body;
  const counted = ["success", "updates", "unregister", "deletes", "errors"].map((name) =>
    Number(new RegExp(`^auto_registration_${name}_total(?:\\{.*\\})? (\\d+)$`, "m").exec(page)?.[1] ?? 0)
  );
  assert.deepEqual(counted, [1, 1, 2, 1, 0]);
  await world.end();
});

Deno.test("an entry that its author wrote is neither taken over nor deleted", async () => {
  const world = replicas();
  const made = groupEntry(GROUP as ConfigObject<"WorkloadGroup">, desiredRegistration(machine("10.0.0.1"))!);
  assert.ok("entry" in made);
  world.user.apply({
    upserted: [GROUP, { ...made.entry, meta: { ...made.entry.meta, annotations: {} } }],
    removed: [],
  });
  world.lead(0);
  const stream = world.open(0);
  await world.settle();
  stream.close();
  await world.clock.advance(3 * GRACE);
  assert.deepEqual(world.entries().map(({ meta }) => meta.annotations), [{}]);
  await world.end();
});

Deno.test("an entry that somebody deletes comes back while its proxy is connected, and one whose group comes later is made then", async () => {
  const world = replicas();
  world.user.apply({ upserted: [GROUP], removed: [] });
  world.open(0);
  await world.settle();
  await world.takeAway("machines-10.0.0.1");
  await world.settle();
  assert.deepEqual(world.said(), ["machines-10.0.0.1 server-0"]);
  world.user.apply({ upserted: [], removed: [GROUP.key] });
  await world.takeAway("machines-10.0.0.1");
  await world.settle();
  assert.deepEqual(world.said(), []);
  world.user.apply({ upserted: [GROUP], removed: [] });
  await world.settle();
  assert.deepEqual(world.said(), ["machines-10.0.0.1 server-0"]);
  await world.end();
});
