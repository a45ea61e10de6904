/** Two servers never lead at once, whatever happens to their requests and however their clocks run. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ELECTION_TIMES, ElectionMachine } from "../../../lib/orch/leader/machine.ts";
import type { LockRecord, ReadLock } from "../../../lib/orch/leader/record.ts";
import { goesBeforeKey } from "../../../lib/orch/leader/default_revision.ts";
import { runs } from "../../properties.ts";

/** The fate of one attempt: times in real milliseconds. */
interface Fate {
  /** Until the read arrives, and until the answer is back. */
  readonly read: readonly [number, number];
  /** The same of the write. */
  readonly write: readonly [number, number];
  /** The lost message. */
  readonly lost: "nothing" | "read" | "write" | "answer";
  /** Until the next attempt. */
  readonly pause: number;
}

/** A server that stands for election. */
interface Standing {
  /** Speed of the server's clock: 1 is real time. */
  readonly speed: number;
  readonly revision: string;
  /** Real time at which the server leaves. A leader gives the lock back. */
  readonly leaves: number;
  readonly fates: readonly Fate[];
}

/** A lock as the API keeps it. */
class Store {
  lock: ReadLock | undefined;
  #version = 0;

  /** Replaces the lock, if the lock is still the seen version. @returns the new lock, or undefined for a conflict */
  write(record: LockRecord, over: ReadLock | undefined): ReadLock | undefined {
    if (this.lock?.version !== over?.version) return undefined;
    const version = `${++this.#version}`;
    return this.lock = { version, record, text: version, object: {} };
  }

  /** Another program writes the object without changing the record, loses the record, or removes the object. */
  disturb(how: "touched" | "record lost" | "removed"): void {
    if (this.lock === undefined) return;
    const version = `${++this.#version}`;
    if (how === "removed") this.lock = undefined;
    else this.lock = { ...this.lock, version, ...how === "touched" ? {} : { record: undefined, text: "" } };
  }
}

/** Runs an election to its end. @returns the greatest number of leaders at once, and the number of all leaders */
function run(
  standing: readonly Standing[],
  disturbances: readonly (readonly [number, "touched" | "record lost" | "removed"])[],
) {
  const store = new Store();
  const due: { at: number; act: () => void }[] = [];
  const later = (at: number, act: () => void) => void due.push({ at, act });
  let now = 0;
  let most = 0;
  const led = new Set<number>();
  const machines = standing.map(({ revision, speed }, index) => ({
    speed,
    gone: false,
    machine: new ElectionMachine({
      identity: `s${index}`,
      key: revision,
      goesBefore: (key) => goesBeforeKey(revision, "default", key),
    }),
  }));
  const look = () => {
    const leaders = machines.flatMap(({ machine, speed, gone }, index) =>
      !gone && machine.leads(now * speed) ? [index] : []
    );
    leaders.forEach((index) => led.add(index));
    most = Math.max(most, leaders.length);
  };
  standing.forEach(({ fates, leaves }, index) => {
    const own = machines[index]!;
    const { machine, speed } = own;
    const local = () => now * speed;
    // Whoever has not been heard of changes at such a moment.
    const change = () => {
      const at = machine.nextChange(local()) / speed;
      if (at > now) later(at, () => {});
    };
    const attempt = (step: number) => {
      const fate = fates[step % fates.length]!;
      if (own.gone) return;
      const next = () => later(now + fate.pause / speed, () => attempt(step + 1));
      const write = () => {
        const over = machine.seen;
        const sent = local();
        const record = machine.record("");
        later(now + fate.write[0], () => {
          const lock = fate.lost === "write" ? undefined : store.write(record, over);
          later(now + fate.write[1], () => {
            if (own.gone) return;
            if (lock === undefined || fate.lost === "answer") machine.failed();
            else machine.written(lock, sent);
            change();
            next();
          });
        });
      };
      if (machine.renewable) return write();
      later(now + fate.read[0], () => {
        const lock = store.lock;
        later(now + fate.read[1], () => {
          if (own.gone) return;
          if (fate.lost === "read") return next();
          const wants = machine.read(lock, local());
          change();
          if (wants) write();
          else next();
        });
      });
    };
    later(0, () => attempt(0));
    later(leaves, () => {
      const leads = machine.leads(local());
      own.gone = true;
      const over = machine.seen;
      const record = leads ? machine.released("", local()) : undefined;
      if (record !== undefined) store.write(record, over);
    });
  });
  for (const [at, how] of disturbances) later(at, () => store.disturb(how));
  while (now < 250_000 && due.length > 0) {
    due.sort((a, b) => a.at - b.at);
    const { at, act } = due.shift()!;
    now = at;
    act();
    look();
  }
  return { most, led: led.size };
}

const ms = (max: number) => fc.oneof(fc.nat({ max: 100 }), fc.nat({ max }));
const fate: fc.Arbitrary<Fate> = fc.record({
  read: fc.tuple(ms(6000), ms(6000)),
  write: fc.tuple(ms(20_000), ms(6000)),
  lost: fc.constantFrom("nothing", "nothing", "nothing", "read", "write", "answer"),
  pause: fc.integer({ min: 1000, max: 20_000 }),
});
const stand: fc.Arbitrary<Standing> = fc.record({
  speed: fc.double({ min: 0.84, max: 1.16, noNaN: true }),
  revision: fc.constantFrom("default", "canary"),
  leaves: fc.integer({ min: 1000, max: 400_000 }),
  fates: fc.array(fate, { minLength: 1, maxLength: 30 }),
});

Deno.test("whatever is slow, lost or disturbed, and however clocks run, never do two lead at once", () => {
  let leaders = 0;
  fc.assert(
    fc.property(
      fc.array(stand, { minLength: 2, maxLength: 5 }),
      fc.array(
        fc.tuple(fc.nat({ max: 200_000 }), fc.constantFrom("touched" as const, "record lost" as const)),
        { maxLength: 4 },
      ),
      (standing, disturbances) => {
        const { most, led } = run(standing, disturbances);
        leaders += led;
        assert.ok(most <= 1, `${most} led at once`);
      },
    ),
    { numRuns: runs(400) },
  );
  assert.ok(leaders > 400, `the property says little: only ${leaders} led in all runs`);
});

const quick: Fate = { read: [5, 5], write: [5, 5], lost: "nothing", pause: ELECTION_TIMES.retry };

Deno.test("one whose attempts succeed leads, and the others follow within a lease when it falls silent", () => {
  const silent: Standing = { speed: 1, revision: "a", leaves: 60_000, fates: [quick] };
  const other: Standing = { speed: 1, revision: "a", leaves: 1e9, fates: [quick] };
  assert.deepEqual(run([silent, other, other], []), { most: 1, led: 2 });
});

/** A lock in the hands of another holder. */
function heldBy(holder: string, text: string, key = "", seconds = 30): ReadLock {
  const record = { holder, key, seconds, acquired: "", renewed: "", transitions: 3 };
  return { version: text, record, text, object: {} };
}

Deno.test("who goes before the holder takes the lock at once, and leads only when that one must have stopped", () => {
  const machine = new ElectionMachine({ identity: "me", key: "default", goesBefore: (key) => key === "canary" });
  assert.equal(machine.read(heldBy("other", "1", "canary"), 1000), true);
  assert.equal(machine.record("").transitions, 4);
  machine.written(heldBy("me", "2", "default"), 1010);
  assert.equal(machine.leads(1100), false);
  assert.equal(machine.nextChange(1100), 31_000);
  machine.written(heldBy("me", "3", "default"), 30_000);
  assert.equal(machine.leads(30_999), false);
  assert.equal(machine.leads(31_000), true);
  assert.equal(machine.leads(45_000), false, "15 s after the renewal was sent");
});

Deno.test("a lock that was given back is taken at once", () => {
  const machine = new ElectionMachine({ identity: "me", key: "" });
  assert.equal(machine.read(heldBy("other", "1"), 0), false);
  assert.equal(machine.read(heldBy("", "2", "", 1), 100), true);
  machine.written(heldBy("me", "3"), 110);
  assert.equal(machine.leads(120), true);
});

Deno.test("a holder that asks others to wait for a day is waited for ten minutes", () => {
  const machine = new ElectionMachine({ identity: "me", key: "" });
  assert.equal(machine.read(heldBy("other", "1", "", 86_400), 0), false);
  assert.equal(machine.read(heldBy("other", "1", "", 86_400), 599_999), false);
  assert.equal(machine.read(heldBy("other", "1", "", 86_400), 600_000), true);
});

Deno.test("the default revision goes before others, and a cluster's own server before one elsewhere", () => {
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ["default", "default", "canary", true],
    ["default", "default", "^canary", true],
    ["default", "default", "", true],
    ["default", "default", "default", false],
    ["canary", "default", "default", false],
    ["canary", "", "default", false],
    ["", "", "", false],
    ["canary", "default", "^canary", true],
    ["canary", "default", "^default", false],
  ];
  for (const [revision, byDefault, key, expected] of rows) {
    assert.equal(goesBeforeKey(revision, byDefault, key), expected, `${revision} before ${key}, default ${byDefault}`);
  }
});
