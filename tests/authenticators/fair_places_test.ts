/** A flood of tokens delays its sender, and the tokens of others are answered. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  FairPlaces,
  MOST_ASKED,
  MOST_OF_GROUP,
  MOST_WAITING,
  MOST_WAITING_OF_GROUP,
} from "../../lib/authenticators/fair_places.ts";
import { TokenReviews } from "../../lib/authenticators/token_reviews.ts";
import type { ApiClient } from "../../lib/orch/client/client.ts";
import { TokenBucket } from "../../lib/orch/client/token_bucket.ts";
import { type Clock, sleepWith } from "../../lib/kernel/time/clock.ts";
import { setImmediate } from "node:timers";
import { runs } from "../properties.ts";

function token(subject: string): string {
  const part = (value: unknown) => btoa(JSON.stringify(value)).replaceAll("=", "");
  return `${part({ alg: "RS256" })}.${part({ sub: subject, exp: 4_000_000_000 })}.x`;
}

const user = { username: "system:serviceaccount:shop:cart", groups: ["system:serviceaccounts"] };

/** A flood: so many callers at so many addresses. Each caller asks again after each answer. */
interface Flood {
  readonly callers: number;
  readonly addressOf: (caller: number) => string;
  /** Where the good callers are. */
  readonly good: (call: number) => string;
}

const FLOODS: Readonly<Record<string, Flood>> = {
  "nobody": { callers: 0, addressOf: () => "", good: () => "10.0.0.1:1" },
  "64 junk callers at one address": { callers: 64, addressOf: (i) => `10.9.9.9:${i}`, good: () => "10.0.0.1:1" },
  "400 junk callers at one address": { callers: 400, addressOf: (i) => `10.9.9.9:${i}`, good: () => "10.0.0.1:1" },
  "64 junk callers behind the good one's own address": {
    callers: 64,
    addressOf: (i) => `10.9.9.9:${i}`,
    good: (i) => `10.9.9.9:${i}`,
  },
  "600 junk callers, each at an address of its own": {
    callers: 600,
    addressOf: (i) => `10.9.${i >> 8}.${i & 255}:1`,
    good: () => "10.0.0.1:1",
  },
  "400 junk callers in one network of IPv6": {
    callers: 400,
    addressOf: (i) => `fd00::9:${i.toString(16)}:1`,
    good: () => "fd00:0:0:1::1:1",
  },
  "600 junk callers, and good ones that were never seen before": {
    callers: 600,
    addressOf: (i) => `10.9.${i >> 8}.${i & 255}:1`,
    good: (i) => `10.0.0.${i}:1`,
  },
};

/**
 * A clock of whole milliseconds: all timers due in one millisecond fire together, so that thousands of callers cost
 * little.
 */
class CoarseClock implements Clock {
  #now = 0;
  readonly #due = new Map<number, Set<() => void>>();
  readonly now = () => Date.UTC(2026, 0, 1) + this.#now;
  readonly monotonic = () => this.#now;
  readonly sleep = (ms: number, signal?: AbortSignal) => sleepWith(this, ms, signal);

  after(ms: number, fire: () => void): () => void {
    const due = this.#due.getOrInsertComputed(this.#now + Math.max(1, Math.ceil(ms)), () => new Set());
    const once = () => fire();
    due.add(once);
    return () => void due.delete(once);
  }

  async tick(): Promise<void> {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.#now++;
    for (const fire of this.#due.get(this.#now) ?? []) fire();
    this.#due.delete(this.#now);
  }
}

/** Number of answered tokens among 100 good tokens, asked for in turn. */
async function answered({ callers, addressOf, good }: Flood): Promise<number> {
  const clock = new CoarseClock();
  const bucket = new TokenBucket(80, 160, clock);
  const client = {
    clock,
    json: async ({ body, signal }: Parameters<ApiClient["json"]>[0]) => {
      await bucket.take(signal);
      await clock.sleep(5);
      const authenticated = (body as { spec: { token: string } }).spec.token.startsWith(token("good").slice(0, 37));
      return { status: { authenticated, audiences: ["mesh-ca"], user } };
    },
  };
  const reviews = new TokenReviews(client, () => true);
  const ask = (subject: string, address: string) => reviews.review(token(subject), ["mesh-ca"], undefined, address);
  let over = false;
  let junk = 0;
  const flood = Array.from({ length: callers }, async (_, i) => {
    while (!over) {
      await ask(`junk${junk++}`, addressOf(i)).catch(() => clock.sleep(300));
      await clock.sleep(5);
    }
  });
  let right = 0;
  const honest = (async () => {
    await clock.sleep(1000);
    for (let i = 0; i < 100; i++) {
      await ask(`good${i}`, good(i)).then(({ authenticated }) => authenticated && right++, () => {});
      await clock.sleep(20);
    }
    over = true;
  })();
  let isOver = false;
  Promise.all([honest, ...flood]).then(() => isOver = true);
  while (!isOver) await clock.tick();
  return right;
}

for (const [name, flood] of Object.entries(FLOODS)) {
  Deno.test(`beside ${name}, all good tokens are answered`, async () => {
    assert.equal(await answered(flood), 100);
  });
}

/** A question, as the test follows it. */
interface Asked {
  readonly group: string;
  state: "waits" | "asked" | "refused" | "over";
  readonly stop: AbortController;
}

/** Lets promises settle. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("in every order of coming and going the bounds hold, a group's questions begin in order, and none is forgotten", async () => {
  const step = fc.oneof(
    { weight: 10, arbitrary: fc.tuple(fc.constant("come"), fc.nat({ max: 5 })) },
    { weight: 2, arbitrary: fc.tuple(fc.constant("go"), fc.nat()) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("give up"), fc.nat()) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("in vain"), fc.nat({ max: 5 })) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
      let now = 0;
      const places = new FairPlaces(() => now);
      const all: Asked[] = [];
      const of = (state: Asked["state"]) => all.filter((one) => one.state === state);
      for (const [what, n] of steps) {
        now += 100;
        if (what === "come") {
          const one: Asked = { group: `g${n}`, state: "waits", stop: new AbortController() };
          all.push(one);
          places.enter(one.group, one.stop.signal).then(() => one.state = "asked", () => one.state = "refused");
        } else if (what === "in vain") places.inVain(`g${n}`);
        else if (what === "go") {
          const one = of("asked")[n % Math.max(1, of("asked").length)];
          if (one === undefined) continue;
          one.state = "over";
          places.leave(one.group);
        } else of("waits")[n % Math.max(1, of("waits").length)]?.stop.abort();
        await settled();
        assert.ok(of("asked").length <= MOST_ASKED);
        for (const group of Map.groupBy(all, (one) => one.group).values()) {
          const asked = group.filter(({ state }) => state === "asked").length;
          assert.ok(asked <= MOST_OF_GROUP);
          const waits = group.findIndex(({ state }) => state === "waits");
          if (waits < 0) continue;
          assert.ok(!group.slice(waits).some(({ state }) => state === "asked"), "begun before an older one");
          assert.ok(asked === MOST_OF_GROUP || of("asked").length === MOST_ASKED, "waits without a reason");
        }
      }
      while (of("asked").length > 0) {
        for (const one of of("asked")) {
          one.state = "over";
          places.leave(one.group);
        }
        await settled();
      }
      assert.deepEqual(of("waits"), []);
    }),
    { numRuns: runs(40) },
  );
});

Deno.test("when too many wait, the oldest of the longest line has to go, and a caller of another address may wait", async () => {
  const places = new FairPlaces(() => 0);
  const { signal } = new AbortController();
  const refused: string[] = [];
  const come = (group: string, n: number) => {
    for (let i = 0; i < n; i++) places.enter(group, signal).catch(() => refused.push(group));
  };
  come("flood", MOST_OF_GROUP + MOST_WAITING_OF_GROUP + 3);
  await settled();
  assert.deepEqual(refused, ["flood", "flood", "flood"]);
  for (let i = 0; i < 40; i++) come(`other${i}`, 24);
  come("small", 30);
  come("good", 1);
  await settled();
  const waiting = MOST_WAITING_OF_GROUP + 40 * 24 + 31 - (MOST_ASKED - MOST_OF_GROUP) - MOST_WAITING;
  assert.equal(refused.length, 3 + waiting);
  assert.deepEqual([...new Set(refused)], ["flood"], "those of the flood alone");
});
