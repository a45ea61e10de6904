/** Files that disappear, and come back or not, in manual time. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigStore } from "../../lib/config/store.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import { HeldBack, REMOVAL_MS, SETTLE_MS } from "../../lib/folder/held_back.ts";
import { FolderIndex } from "../../lib/folder/index.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { runs } from "../properties.ts";

const OPTIONS = { defaultNamespace: "default", source: "" };

function entry(name: string, port: number | string = 80): string {
  return `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name} }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
`;
}

const BROKEN = "wrong";

/** A folder in memory, read at once after every change. */
class Fixture {
  readonly clock = createFakeClock();
  readonly files = new Map<string, string>();
  readonly index = new FolderIndex(OPTIONS);
  readonly #store = new ConfigStore();
  readonly #source = this.#store.addSource("", 0);
  /** The objects after each batch. */
  readonly seen: string[] = [];
  readonly held = new HeldBack(this.clock, (path) => this.read(path));

  write(path: string, text: string): void {
    this.files.set(path, text);
    this.read(path);
  }

  remove(path: string): void {
    this.files.delete(path);
    this.read(path);
  }

  /** @param apart Whether the two names are read in batches of their own, the old name first. */
  move(from: string, to: string, apart: boolean): void {
    const text = this.files.get(from);
    if (text === undefined) return;
    this.files.delete(from);
    this.files.set(to, text);
    if (!apart) return this.read(to, from);
    this.read(from);
    this.read(to);
  }

  read(...paths: readonly string[]): void {
    const due = this.held.takeDue();
    const reads = paths.flatMap((path) => {
      const text = this.files.get(path);
      const bytes = text === undefined ? undefined : new TextEncoder().encode(text);
      return this.held.admit({ path, bytes }, this.index.file(path), due) ?? [];
    });
    this.#source.apply(this.index.apply(reads));
    this.seen.push(this.live());
  }

  live(): string {
    return this.#store.list("ServiceEntry").map((one) => `${one.meta.name}:${one.spec.ports?.[0]?.number}`).join(" ");
  }

  findings(): string[] {
    return this.index.findings().map(formatFinding);
  }
}

Deno.test("a mistake in a file that was moved away before keeps the last good version", async () => {
  for (const gap of [3, 100, REMOVAL_MS - 1]) {
    const folder = new Fixture();
    folder.write("a.yaml", entry("a"));
    folder.remove("a.yaml");
    await folder.clock.advance(gap);
    folder.write("a.yaml", entry("a", BROKEN));
    await folder.clock.advance(10 * REMOVAL_MS);
    assert.deepEqual(new Set(folder.seen), new Set(["a:80"]), `after ${gap} ms`);
    assert.match(folder.findings().join("\n"), /number: "wrong"/);
  }
});

Deno.test("a removal is taken after half a second, however often the folder is read meanwhile", async () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("a"));
  folder.remove("a.yaml");
  for (let at = 0; at < REMOVAL_MS - 1; at++) {
    await folder.clock.advance(1);
    folder.read("a.yaml");
    assert.equal(folder.live(), "a:80");
  }
  await folder.clock.advance(1);
  assert.equal(folder.live(), "");
  assert.deepEqual(folder.held.paths, []);
  assert.equal(folder.clock.pending(), 0);
});

Deno.test("a file that is gone right after it looked half-written is not taken as removed at once", async () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("a"));
  folder.write("a.yaml", "");
  await folder.clock.advance(SETTLE_MS - 1);
  folder.files.delete("a.yaml");
  await folder.clock.advance(1);
  assert.equal(folder.live(), "a:80");
  folder.write("a.yaml", entry("a", 81));
  await folder.clock.advance(REMOVAL_MS);
  assert.deepEqual(new Set(folder.seen), new Set(["a:80", "a:81"]));
});

Deno.test("a file without objects goes at once", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("a", BROKEN));
  assert.equal(folder.findings().length, 1);
  folder.remove("a.yaml");
  assert.deepEqual(folder.findings(), []);
  assert.equal(folder.clock.pending(), 0);
});

Deno.test("a renamed file is in force under its new name at once, and is no duplicate of itself", async () => {
  for (const apart of [false, true]) {
    const folder = new Fixture();
    folder.write("a.yaml", `${entry("a")}---\n${entry("b")}`);
    folder.move("a.yaml", "z.yaml", apart);
    assert.deepEqual(folder.findings(), []);
    folder.write("z.yaml", entry("a", 81));
    assert.equal(folder.live(), "a:81 b:80", "only the object that has no other file waits");
    await folder.clock.advance(REMOVAL_MS);
    assert.deepEqual(new Set(folder.seen), new Set(["a:80 b:80", "a:81 b:80", "a:81"]));
    assert.deepEqual(folder.findings(), []);
  }
});

Deno.test("a file moved through another name of the folder keeps its last good version", async () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("a"));
  folder.move("a.yaml", "old.yaml", true);
  folder.write("a.yaml", entry("a", BROKEN));
  folder.remove("old.yaml");
  await folder.clock.advance(10 * REMOVAL_MS);
  assert.deepEqual(new Set(folder.seen), new Set(["a:80"]));
});

Deno.test("a file that gets another name and a mistake in one step keeps its last good version, in any order of reads", async () => {
  const good = `${entry("a")}---\n${entry("b")}`;
  const bad = `${entry("a", BROKEN)}---\n${entry("b")}`;
  const orders: Record<string, (folder: Fixture) => Promise<void> | void> = {
    "old name first": (folder) => {
      folder.remove("a.yaml");
      folder.write("z.yaml", bad);
    },
    "new name first": (folder) => {
      folder.write("z.yaml", bad);
      folder.remove("a.yaml");
    },
    "together": (folder) => {
      folder.files.delete("a.yaml");
      folder.files.set("z.yaml", bad);
      folder.read("z.yaml", "a.yaml");
    },
    "within the hold": async (folder) => {
      folder.remove("a.yaml");
      await folder.clock.advance(REMOVAL_MS - 1);
      folder.write("z.yaml", bad);
    },
    "a text that does not parse": (folder) => {
      folder.remove("a.yaml");
      folder.write("z.yaml", `${entry("a").replace("hosts: [", "hosts: [[")}---\n${entry("b")}`);
    },
  };
  for (const [order, rename] of Object.entries(orders)) {
    const folder = new Fixture();
    folder.write("a.yaml", good);
    await rename(folder);
    await folder.clock.advance(10 * REMOVAL_MS);
    assert.deepEqual(new Set(folder.seen), new Set(["a:80 b:80"]), order);
    assert.equal(folder.findings().length, 1, order);
    assert.deepEqual([...folder.index.file("z.yaml")!.stale], ["ServiceEntry/default/a"], order);

    // The text is repaired, broken again, and the file goes.
    folder.write("z.yaml", entry("a", 81));
    folder.write("z.yaml", entry("a", BROKEN));
    await folder.clock.advance(REMOVAL_MS);
    assert.equal(folder.live(), "a:81", order);
    folder.remove("z.yaml");
    await folder.clock.advance(REMOVAL_MS);
    assert.equal(folder.live(), "", order);
    assert.deepEqual(folder.findings(), []);
  }
});

Deno.test("an object that is taken out of one file and put into another with a mistake keeps its last good version", async () => {
  for (const paths of [["a.yaml", "z.yaml"], ["z.yaml", "a.yaml"]] as const) {
    const folder = new Fixture();
    folder.write("a.yaml", `${entry("a")}---\n${entry("b")}`);
    folder.files.set("a.yaml", entry("b"));
    folder.files.set("z.yaml", entry("a", BROKEN));
    folder.read(...paths);
    folder.write("z.yaml", `${entry("a", BROKEN)}# the text is read again, still with the mistake\n`);
    await folder.clock.advance(REMOVAL_MS);
    assert.equal(folder.live(), "a:80 b:80");
    folder.write("z.yaml", entry("c"));
    assert.equal(folder.live(), "b:80 c:80", "no text stands for the object any more");
  }
});

const path = fc.constantFrom("a.yaml", "b.yaml", "c.yaml");
const step = fc.oneof(
  fc.record({
    does: fc.constant("write" as const),
    path,
    name: fc.constantFrom("x", "y"),
    port: fc.constantFrom(80, 81, BROKEN),
  }),
  fc.record({ does: fc.constant("move" as const), path, to: path, apart: fc.boolean() }),
  fc.record({ does: fc.constant("remove" as const), path }),
  fc.record({ does: fc.constant("wait" as const), ms: fc.constantFrom(1, 3, 100, REMOVAL_MS - 1, REMOVAL_MS) }),
);

/** The name in a text of a file, and whether the text is good. */
interface ModelText {
  readonly name: string;
  readonly port: number | string;
}

/**
 * The names that must be in force: by file, the name of the last good text. A name that no file has any more goes to the
 * first file with a broken text of the name.
 */
class Model {
  readonly texts = new Map<string, ModelText>();
  readonly #good = new Map<string, string>();
  readonly #goneAt = new Map<string, number>();

  write(path: string, text: ModelText, now: number): void {
    this.expire(now);
    this.texts.set(path, text);
    this.#goneAt.delete(path);
    const before = this.#good.get(path);
    if (text.port !== BROKEN) this.#good.set(path, text.name);
    else if (before !== text.name) this.#good.delete(path);
    this.#lost(before);
  }

  #lost(name: string | undefined): void {
    if (name === undefined || [...this.#good.values()].includes(name)) return;
    const broken = [...this.texts].filter(([, text]) => text.port === BROKEN && text.name === name);
    const [first] = broken.map(([path]) => path).sort();
    if (first !== undefined) this.#good.set(first, name);
  }

  remove(path: string, now: number): void {
    if (this.texts.delete(path)) this.#goneAt.set(path, now);
  }

  expire(now: number): void {
    for (const [path, at] of this.#goneAt) {
      if (now - at < REMOVAL_MS) continue;
      this.#goneAt.delete(path);
      const before = this.#good.get(path);
      this.#good.delete(path);
      this.#lost(before);
    }
  }

  names(now: number): string {
    this.expire(now);
    return [...new Set(this.#good.values())].sort().join(" ");
  }
}

Deno.test("property: an object lives as long as a file has it or had it within the hold, and the end is a fresh read", async () => {
  const names = (live: string) => live.replaceAll(/:\d+/g, "");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const [folder, model] = [new Fixture(), new Model()];
      const now = () => folder.clock.monotonic();
      for (const one of steps) {
        if (one.does === "wait") await folder.clock.advance(one.ms);
        else if (one.does === "write") {
          model.write(one.path, one, now());
          folder.write(one.path, entry(one.name, one.port));
        } else if (one.does === "remove") {
          model.remove(one.path, now());
          folder.remove(one.path);
        } else if (one.path !== one.to) {
          const text = model.texts.get(one.path);
          if (text !== undefined) {
            model.remove(one.path, now());
            model.write(one.to, text, now());
          }
          folder.move(one.path, one.to, one.apart);
        }
        assert.equal(names(folder.live()), model.names(now()));
      }
      await folder.clock.advance(REMOVAL_MS);
      assert.equal(names(folder.live()), model.names(now()));
      assert.equal(folder.clock.pending(), 0);
      if ([...model.texts.values()].some(({ port }) => port === BROKEN)) return;
      const fresh = new Fixture();
      for (const [path, text] of folder.files) fresh.write(path, text);
      assert.equal(folder.live(), fresh.live());
      assert.deepEqual(folder.findings(), fresh.findings());
    }),
    { numRuns: runs(500) },
  );
});
