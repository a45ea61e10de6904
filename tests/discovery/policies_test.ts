/** Policies that nothing enforces yet are reported, each with the connected workloads that it would be for. */
import assert from "node:assert/strict";
import { type Finding, findingKeys } from "../../lib/config/finding/finding.ts";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore, type StoreSource } from "../../lib/config/store.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { POLICY_REVIEW_DELAY, UnenforcedPolicies } from "../../lib/discovery/policies.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { TestProxy } from "../debug/proxy.ts";
import { Fixture } from "./fixture.ts";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";
import { inFile } from "../config/origins.ts";

const policy = (kind: string, namespace: string, name: string, spec: object = {}) => ({
  apiVersion: "security.mesh.io/v1",
  kind,
  metadata: { name, namespace },
  spec,
});

function parsed(tree: unknown): ConfigObject {
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object !== undefined, JSON.stringify(findings));
  return object;
}

/** A store with policies, a pipeline with proxies, time that a test moves, and the lines so far. */
async function world(trees: readonly unknown[], run: (world: World) => void | Promise<void>): Promise<void> {
  const { log, lines } = openLog();
  const clock = createFakeClock();
  const kernel = startKernel("pilot-discovery", undefined, { log, clock });
  const fixture = new Fixture();
  const store = new ConfigStore();
  const source = store.addSource("a", 0);
  const apply = (...upserted: unknown[]) => void source.apply({ upserted: upserted.map(parsed), removed: [] });
  apply(...trees);
  fixture.pipeline.flush();
  const policies = new UnenforcedPolicies(store, fixture.pipeline, kernel);
  const reported = () =>
    lines.splice(0).map(({ level, objects, workloads, connected }) => [level, objects, workloads, connected]);
  const join = (namespace: string, address: string, labels: Record<string, string> = {}) => {
    const member = fixture.join({ namespace, address, labels });
    policies.connected();
    return member;
  };
  try {
    await run({ apply, clock, fixture, join, policies, source, reported });
  } finally {
    policies.stop();
    await kernel.stopper.stop();
  }
}

interface World {
  readonly apply: (...trees: unknown[]) => void;
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly fixture: Fixture;
  readonly join: (namespace: string, address: string, labels?: Record<string, string>) => ReturnType<Fixture["join"]>;
  readonly policies: UnenforcedPolicies;
  readonly source: StoreSource;
  readonly reported: () => unknown[];
}

const TOKENS = { jwtRules: [{ issuer: "i.example.com" }] };
const app = (name: string) => ({ selector: { matchLabels: { app: name } } });

Deno.test("a policy is one line when it appears, one when it is first for a workload, and none for each connection", async () => {
  await world([policy("RequestAuthentication", "x", "all", TOKENS)], async ({ clock, join, fixture, reported }) => {
    assert.deepEqual(reported(), [["warn", ["RequestAuthentication/x/all"], 0, 0]]);
    const first = join("x", "10.0.0.1");
    join("x", "10.0.0.2");
    join("y", "10.0.0.3");
    assert.deepEqual(reported(), [], "many connect at once");
    await clock.advance(POLICY_REVIEW_DELAY);
    assert.deepEqual(reported(), [["warn", ["RequestAuthentication/x/all"], 2, 3]]);
    fixture.pipeline.translator.leave(first);
    join("x", "10.0.0.1");
    await clock.advance(POLICY_REVIEW_DELAY);
    assert.deepEqual(reported(), []);
  });
});

Deno.test("a policy that changes is a line with the number of now; an edit that changes nothing is none", async () => {
  const tree = policy("RequestAuthentication", "x", "strict", { jwtRules: [{ issuer: "i.example.com" }] });
  await world([tree], async ({ apply, clock, join, source, reported }) => {
    join("x", "10.0.0.1", { app: "a" });
    await clock.advance(POLICY_REVIEW_DELAY);
    reported();
    apply({ ...tree, metadata: { ...tree.metadata, labels: { owner: "me" } } });
    assert.deepEqual(reported(), []);
    apply({ ...tree, spec: { ...tree.spec, ...app("a") } });
    assert.deepEqual(reported(), [["warn", ["RequestAuthentication/x/strict"], 1, 1]]);
    apply({ ...tree, spec: { ...tree.spec, ...app("b") } });
    assert.deepEqual(reported(), [["warn", ["RequestAuthentication/x/strict"], 0, 1]]);
    join("x", "10.0.0.2", { app: "b" });
    await clock.advance(POLICY_REVIEW_DELAY);
    assert.deepEqual(reported(), [["warn", ["RequestAuthentication/x/strict"], 1, 2]]);
    source.apply({ upserted: [], removed: ["RequestAuthentication/x/strict"] });
    join("x", "10.0.0.3", { app: "b" });
    await clock.advance(POLICY_REVIEW_DELAY);
    assert.deepEqual(reported(), []);
  });
});

Deno.test("namespace, root namespace, labels and named Gateways decide which workloads a policy would be for", async () => {
  const gateway = { targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" }] };
  const trees = [
    policy("RequestAuthentication", "mesh-system", "everywhere", TOKENS),
    policy("RequestAuthentication", "x", "labelled", { ...TOKENS, ...app("a") }),
    policy("RequestAuthentication", "x", "edge", { ...TOKENS, ...gateway }),
    policy("RequestAuthentication", "y", "tokens", TOKENS),
  ];
  await world(trees, ({ join, policies }) => {
    join("x", "10.0.0.1", { app: "a" });
    join("x", "10.0.0.2", { "gateway.networking.k8s.io/gateway-name": "edge" });
    join("y", "10.0.0.3");
    join("z", "10.0.0.4");
    const texts = policies.warnings();
    const counts = texts.map((one) => [findingKeys(one)[0], /apply to (\d of \d)/.exec(one.message)?.[1]]);
    assert.deepEqual(counts, [
      ["RequestAuthentication/mesh-system/everywhere", "4 of 4"],
      ["RequestAuthentication/x/edge", "1 of 4"],
      ["RequestAuthentication/x/labelled", "1 of 4"],
      ["RequestAuthentication/y/tokens", "1 of 4"],
    ]);
  });
});

Deno.test("a server reports a policy in its log and on the page of warnings, with its connected proxies", async () => {
  const text = `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: deny, namespace: x }
spec: { jwtRules: [{ issuer: i.example.com }] }
`;
  const { log, lines } = openLog();
  await withServer({ "a.yaml": text }, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const warnings = JSON.parse((await page(ports.http, "/debug/warningz")).body) as Finding[];
    assert.deepEqual(warnings.map((one) => [findingKeys(one), one.message]), [[
      ["RequestAuthentication/x/deny"],
      "RequestAuthentication x/deny is not enforced (this version enforces no RequestAuthentication); " +
      "it would apply to 1 of 1 connected workloads",
    ]]);
    // A second after the connection comes another line, with one workload.
    const first = lines.find(({ scope }) => scope === "authorization");
    assert.deepEqual([first?.level, first?.workloads], ["warn", 0]);
  }, { log });
});
