/** Keys of token issuers over time: each place once, kept, renewed, dropped, in any order of events. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import {
  KEPT_UNUSED_MS,
  LAST_RETRY_MS,
  LONGEST_FETCH_MS,
  MAX_FETCHES,
  TokenKeyResolver,
} from "../../lib/discovery/lookups/token_keys/resolver.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { inFile } from "../config/origins.ts";
import { runs } from "../properties.ts";

type Policy = ConfigObject<"RequestAuthentication">;

const REFRESH = 20 * 60_000;
const placeOf = (name: string) => `http://${name}.example/keys`;

function policy(name: string, places: readonly string[], timeout?: string): Policy {
  const jwtRules = places.map((place) => ({ issuer: place, jwksUri: placeOf(place), ...(timeout ? { timeout } : {}) }));
  const metadata = { name, namespace: "x" };
  const tree = { apiVersion: "security.mesh.io/v1", kind: "RequestAuthentication", metadata, spec: { jwtRules } };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as Policy;
}

/** A waiting fetch, ended by the test. */
interface PendingFetch {
  readonly place: string;
  readonly timeout: number;
  readonly signal: AbortSignal;
  succeed(keys: string): void;
  fail(reason: string): void;
}

function world() {
  const clock = createFakeClock();
  const pending: PendingFetch[] = [];
  const all: PendingFetch[] = [];
  const changed: string[] = [];
  const resolver = new TokenKeyResolver({
    clock,
    refreshInterval: REFRESH,
    fetches: () => true,
    get: ({ uri = "" }, { timeout, signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const end = (work: () => void) => {
        const at = pending.indexOf(fetch);
        if (at >= 0) pending.splice(at, 1);
        work();
      };
      const fetch: PendingFetch = {
        ...{ place: uri, timeout, signal },
        succeed: (keys) => end(() => resolve(keys)),
        fail: (reason) => end(() => reject(new Error(reason))),
      };
      signal.addEventListener("abort", () => fetch.fail("given up"));
      pending.push(fetch);
      all.push(fetch);
      return promise;
    },
    changed: (place) => changed.push(place),
  });
  const settle = () => clock.advance(0);
  const reasons = () => [...resolver.failures()].map(({ reason }) => reason);
  return { clock, pending, all, changed, resolver, settle, reasons };
}

Deno.test("a place is fetched once, however many rules name it, and again after the refresh interval", async () => {
  const { resolver, pending, all, settle, clock, changed } = world();
  resolver.update([], [policy("one", ["a", "b"]), policy("two", ["a"])]);
  assert.deepEqual(pending.map(({ place }) => place), [placeOf("a"), placeOf("b")]);
  assert.equal(resolver.keysAt(placeOf("a")), undefined);
  let tried = false;
  const waiting = resolver.tried().then(() => tried = true);
  pending[0]!.succeed("A");
  await settle();
  assert.equal(tried, false);
  pending[0]!.fail("no");
  await settle();
  await waiting;
  assert.deepEqual([resolver.keysAt(placeOf("a")), resolver.keysAt(placeOf("b"))], ["A", undefined]);
  assert.deepEqual(changed, [placeOf("a"), placeOf("b")]);
  resolver.update([], [policy("three", ["a"])]);
  await clock.advance(REFRESH - 1);
  assert.equal(all.filter(({ place }) => place === placeOf("a")).length, 1);
  await clock.advance(1);
  assert.equal(all.filter(({ place }) => place === placeOf("a")).length, 2);
  resolver.stop();
});

Deno.test("after failures tries come at doubled distances, at most a minute, and the last keys stay", async () => {
  const { resolver, pending, settle, clock, changed, reasons } = world();
  resolver.update([], [policy("one", ["a"])]);
  pending[0]!.succeed("A");
  await clock.advance(REFRESH);
  const waits: number[] = [];
  for (let i = 0; i < 9; i++) {
    pending[0]!.fail("down");
    await settle();
    assert.deepEqual([resolver.keysAt(placeOf("a")), reasons()], ["A", ["down"]]);
    let waited = 0;
    for (; pending.length === 0; waited += 500) await clock.advance(500);
    waits.push(waited);
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, LAST_RETRY_MS, LAST_RETRY_MS, LAST_RETRY_MS]);
  assert.equal(changed.length, 2, "the keys, and the first failure");
  pending[0]!.succeed("A");
  await settle();
  assert.deepEqual([changed.length, reasons()], [3, []]);
  resolver.stop();
});

Deno.test("keys that no rule names any more are kept for a minute, then dropped with their timers", async () => {
  const { resolver, pending, all, settle, clock } = world();
  const one = policy("one", ["a"]);
  resolver.update([], [one]);
  pending[0]!.succeed("A");
  await settle();
  resolver.update([one], []);
  await clock.advance(KEPT_UNUSED_MS - 1);
  resolver.update([], [policy("two", ["a"])]);
  await clock.advance(KEPT_UNUSED_MS);
  assert.equal(resolver.keysAt(placeOf("a")), "A");
  assert.equal(all.length, 1);
  resolver.update([policy("two", ["a"])], [policy("two", ["b"])]);
  await clock.advance(KEPT_UNUSED_MS);
  assert.equal(resolver.keysAt(placeOf("a")), undefined);
  resolver.update([policy("two", ["b"])], []);
  await clock.advance(KEPT_UNUSED_MS);
  assert.equal(all.at(-1)!.signal.aborted, true, "a fetch that nobody needs is given up");
  assert.deepEqual([clock.pending(), pending.length], [0, 0]);
});

Deno.test("fetches at the same time are bounded, places never fetched go first, and rules give no more time than allowed", async () => {
  const { resolver, pending, settle, clock } = world();
  resolver.update([], [policy("old", ["old"])]);
  pending[0]!.succeed("A");
  await settle();
  const names = Array.from({ length: MAX_FETCHES + 5 }, (_, i) => `n${i}`);
  resolver.update([], [policy("many", names, "1h")]);
  assert.equal(pending.length, MAX_FETCHES);
  assert.deepEqual(new Set(pending.map(({ timeout }) => timeout)), new Set([LONGEST_FETCH_MS]));
  await clock.advance(REFRESH);
  pending[0]!.fail("slow");
  await settle();
  assert.equal(pending.at(-1)!.place, placeOf(`n${MAX_FETCHES}`));
  resolver.stop();
  assert.deepEqual([clock.pending(), pending.length], [0, 0]);
});

Deno.test("only a key set without a usable key is reported", async () => {
  const { resolver, pending, settle, reasons } = world();
  resolver.update([], [policy("one", ["a"])]);
  pending[0]!.succeed('{"keys":[]}');
  await settle();
  assert.match(reasons()[0]!, /^the key set has no key that verifies tokens/);
  assert.equal([...resolver.failures()][0]!.hasKeys, false);
  resolver.stop();
});

const anyStep = fc.oneof(
  fc.record({ do: fc.constant("put" as const), name: fc.nat(2), places: fc.subarray(["a", "b", "c"]) }),
  fc.record({ do: fc.constant("remove" as const), name: fc.nat(2) }),
  fc.record({ do: fc.constant("succeed" as const), at: fc.nat(3), keys: fc.constantFrom("A", "B") }),
  fc.record({ do: fc.constant("fail" as const), at: fc.nat(3) }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 1000, KEPT_UNUSED_MS, REFRESH) }),
);

Deno.test("in any order of events each named place has its last fetched keys, with one fetch at a time, and fetching ends for unnamed places", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
      const { resolver, pending, clock, settle } = world();
      const objects = new Map<string, Policy>();
      const fetched = new Map<string, string>();
      const replace = (name: string, next: Policy | undefined) => {
        const old = objects.get(name);
        resolver.update(old ? [old] : [], next ? [next] : []);
        if (next) objects.set(name, next);
        else objects.delete(name);
      };
      for (const step of steps) {
        if (step.do === "put") replace(`p${step.name}`, policy(`p${step.name}`, step.places));
        else if (step.do === "remove") replace(`p${step.name}`, undefined);
        else if (step.do === "wait") await clock.advance(step.ms);
        else {
          const fetch = pending[step.at % Math.max(1, pending.length)];
          if (fetch && step.do === "succeed") {
            fetched.set(fetch.place, step.keys);
            fetch.succeed(step.keys);
          } else fetch?.fail("down");
        }
        await settle();
        const places = pending.map(({ place }) => place);
        assert.equal(new Set(places).size, places.length, "one fetch of a place at a time");
        for (const place of ["a", "b", "c"].map(placeOf)) {
          const keys = resolver.keysAt(place);
          if (keys !== undefined) assert.equal(keys, fetched.get(place));
        }
      }
      const named = new Set(
        [...objects.values()].flatMap(({ spec }) => (spec.jwtRules ?? []).map((rule) => rule.jwksUri!)),
      );
      for (const fetch of [...pending]) fetch.succeed("last");
      await settle();
      for (let i = 0; i < 3; i++) {
        await clock.advance(LAST_RETRY_MS);
        for (const fetch of [...pending]) fetch.succeed("last");
        await settle();
      }
      for (const place of ["a", "b", "c"].map(placeOf)) {
        assert.equal(resolver.keysAt(place) !== undefined, named.has(place), place);
      }
      for (const name of [...objects.keys()]) replace(name, undefined);
      await clock.advance(KEPT_UNUSED_MS);
      assert.deepEqual([clock.pending(), pending.length], [0, 0]);
    }),
    { numRuns: runs(200) },
  );
});
