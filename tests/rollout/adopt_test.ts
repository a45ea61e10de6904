/** A server follows the decisions of another server, in any order of edits, decisions and their arrival. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import { placeInOrder } from "../../lib/rollout/choice.ts";
import type { StageFacts } from "../../lib/rollout/machine.ts";
import { writtenRecords } from "../../lib/rollout/record.ts";
import { contentHash } from "../../lib/rollout/staged.ts";
import { type StagedRecord } from "../../lib/rollout/staged.ts";
import { StagedObjects } from "../../lib/rollout/staged_objects.ts";
import { inFile } from "../config/origins.ts";
import { runs } from "../properties.ts";

const RUNS = runs(1000);
const KEY = "VirtualService/x/one";
const OWN = new Set(["a1", "a2", "a3", "a4", "a5"]);
const OTHERS = new Set(["b1", "b2", "b3", "b4", "b5"]);
const LIVE: StageFacts = { total: 10, chosen: 1, live: 1, failing: 0, refused: 0, words: [], errors: "" };

function route(version: number, plan: Readonly<Record<string, string>> = {}): AnyConfigObject {
  const spec = { hosts: ["a.com"], http: [{ timeout: `${version}s`, route: [{ destination: { host: "a.com" } }] }] };
  const metadata = { name: "one", namespace: "x", annotations: { "mesh.io/rollout": "50%:0s,100%:0s", ...plan } };
  const tree = { apiVersion: "networking.mesh.io/v1", kind: "VirtualService", metadata, spec };
  return parseObject(tree, inFile("test"), { defaultNamespace: "x" }).object as AnyConfigObject;
}

/** A server: its rollouts, the newest version that it has seen, and the version that other proxies have. */
class Side {
  readonly staged = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
  newest = route(1);
  #applied: AnyConfigObject | undefined;

  constructor() {
    this.#apply({ removed: [], added: [this.newest] });
    this.staged.seal();
  }

  see(object: AnyConfigObject): void {
    this.#apply({ removed: [this.newest], added: [object] });
    this.newest = object;
  }

  /** A push without changed objects. */
  push(): void {
    this.#apply({ removed: [], added: [] });
  }

  #apply(change: { readonly removed: readonly AnyConfigObject[]; readonly added: readonly AnyConfigObject[] }): void {
    for (const object of this.staged.settledChange(change).added) this.#applied = object;
  }

  /** The content that a proxy has. */
  has(proxy: string): string {
    const name = this.staged.candidatesOf(proxy);
    const object = name === undefined ? this.#applied! : this.staged.fork(name).objects[0]!;
    return contentHash(object);
  }

  record(): StagedRecord {
    const [record] = this.staged.records();
    assert.ok(record);
    return record;
  }
}

/** The leading server, the other server, and what is on its way from one to the other. */
class Pair {
  readonly leader = new Side();
  readonly other = new Side();
  readonly #records: StagedRecord[] = [];
  readonly #versions: AnyConfigObject[] = [];
  /** By content: the highest place up to which the leader has ever chosen, and whether it has settled. */
  readonly #allowed = new Map<string, number>();
  #version = 1;
  #last = "";

  constructor() {
    this.#note();
  }

  edit(): void {
    const object = route(++this.#version);
    this.leader.see(object);
    this.#versions.push(object);
    this.#note();
  }

  /** The other server sees the next version. */
  arrive(): void {
    const object = this.#versions.shift();
    if (object !== undefined) this.other.see(object);
  }

  /** The leader makes a step. */
  step(refused: number): void {
    const { staged } = this.leader;
    staged.choose(KEY, OWN, false, [...OTHERS].map((proxy) => placeInOrder(proxy, KEY)));
    this.#note();
    staged.step(KEY, { ...LIVE, refused });
    this.leader.push();
    this.#note();
  }

  /** The other server hears the next decision. */
  hear(): void {
    const record = this.#records.shift();
    if (record === undefined) return;
    this.other.staged.adopt(KEY, record);
    this.other.push();
    this.other.staged.follow(KEY, OTHERS);
  }

  #note(): void {
    const record = this.leader.record();
    const text = writtenRecords([record]);
    if (text === this.#last) return;
    this.#last = text;
    this.#records.push(record);
    const { settled, rollout, choice } = record;
    if (settled !== undefined) this.#allowed.set(contentHash(settled), Infinity);
    if (rollout === undefined) return;
    const before = this.#allowed.get(rollout.candidate) ?? -1;
    this.#allowed.set(rollout.candidate, Math.max(before, choice?.limit ?? -1));
  }

  /** No proxy of the other server has a version before the leader has chosen the proxy. */
  check(): void {
    for (const proxy of OTHERS) {
      const content = this.other.has(proxy);
      assert.ok(placeInOrder(proxy, KEY) <= (this.#allowed.get(content) ?? -1), `${proxy} has ${content}`);
    }
  }

  finish(): void {
    while (this.#versions.length > 0) this.arrive();
    for (let i = 0; i < 10; i++) this.step(0);
    while (this.#records.length > 0) this.hear();
    this.other.push();
  }
}

const act = fc.oneof(
  { weight: 2, arbitrary: fc.constant("edit" as const) },
  { weight: 3, arbitrary: fc.constant("arrive" as const) },
  { weight: 5, arbitrary: fc.constant("step" as const) },
  { weight: 1, arbitrary: fc.constant("refuse" as const) },
  { weight: 5, arbitrary: fc.constant("hear" as const) },
);

Deno.test("a server that follows gives no proxy a version before the deciding server says so, and ends with the same versions", () => {
  const seen = { partly: 0 };
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40, size: "max" }), (acts) => {
      const pair = new Pair();
      for (const one of acts) {
        if (one === "step" || one === "refuse") pair.step(one === "refuse" ? 1 : 0);
        else pair[one]();
        pair.check();
        if (new Set([...OTHERS].map((proxy) => pair.other.has(proxy))).size > 1) seen.partly++;
      }
      pair.finish();
      pair.check();
      const { leader, other } = pair;
      const isTakenBack = leader.staged.rollouts()[0]?.phase === "taken-back";
      assert.deepEqual(isTakenBack, other.staged.rollouts()[0]?.phase === "taken-back");
      for (const proxy of OTHERS) assert.equal(other.has(proxy), leader.has("a-proxy-that-nobody-chose"));
      if (!isTakenBack) assert.equal(leader.has("a1"), contentHash(leader.newest));
    }),
    { numRuns: RUNS },
  );
  assert.ok(seen.partly > RUNS / 100, `${seen.partly} states with two versions`);
});

Deno.test("a decision that comes before its object is kept for the object", () => {
  const pair = new Pair();
  pair.edit();
  pair.step(0);
  for (let i = 0; i < 5; i++) pair.hear();
  pair.arrive();
  pair.other.staged.follow(KEY, OTHERS);
  pair.check();
  pair.finish();
  assert.equal(pair.other.has("b1"), contentHash(route(2)));
});

Deno.test("a server that begins to decide keeps the choice while proxies of other servers are not known yet", () => {
  const pair = new Pair();
  pair.edit();
  pair.arrive();
  pair.step(0);
  while (pair.other.staged.rollouts()[0]?.limit === -1) pair.hear();
  const { limit } = pair.other.staged.rollouts()[0]!;
  pair.other.staged.lead();
  pair.other.staged.choose(KEY, OTHERS, true);
  assert.ok(pair.other.staged.rollouts()[0]!.limit <= limit, "no further proxy");
  assert.ok(pair.other.staged.rollouts()[0]!.returns, "no next stage yet");
});

Deno.test("an edit of the plan that no leader has seen counts when this server leads", () => {
  const pair = new Pair();
  pair.edit();
  pair.step(0);
  pair.arrive();
  pair.hear();
  pair.hear();
  const { staged } = pair.other;
  assert.equal(staged.rollouts()[0]?.plan.paused, false);
  pair.other.see(route(2, { "mesh.io/rollout-paused": "true" }));
  staged.lead();
  assert.equal(staged.rollouts()[0]?.plan.paused, true);
});
