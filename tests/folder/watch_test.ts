/**
 * The edge of the folder source against real folders. Tests await events. A test whose event never comes fails by the
 * deadline.
 */
import assert from "node:assert/strict";
import { formatFinding } from "../../lib/finding/finding.ts";
import { REMOVAL_MS } from "../../lib/folder/held_back.ts";
import { watchFolder } from "../../lib/folder/watch.ts";
import type { WatchedFolder } from "../../lib/folder/watched_folder.ts";
import { type FileText, watchFile } from "../../lib/kernel/files/watch_file.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { type Clock, systemClock } from "../../lib/kernel/time/clock.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { PATIENCE } from "../patience.ts";

function entry(name: string, port = 80): string {
  return `apiVersion: networking.mesh.io/v1\nkind: ServiceEntry\nmetadata: {name: ${name}}\nspec:\n` +
    `  hosts: [${name}.example.com]\n  ports: [{number: ${port}, name: http, protocol: HTTP}]\n`;
}

/** A watched temporary folder, and a way to wait for a state. */
class Fixture {
  readonly store = new ConfigStore();
  readonly source = this.store.addSource("", 0);
  readonly presence: boolean[] = [];
  #wake: (() => void) | undefined;
  watched: WatchedFolder | undefined;

  constructor(readonly base: string, readonly root: string) {}

  /** @param clock Times how long files are held back. Default: the machine's clock. */
  async start(clock: Pick<Clock, "after"> = systemClock): Promise<void> {
    this.watched = await watchFolder({
      root: this.root,
      clock,
      parse: { defaultNamespace: "default", source: "" },
      onChanges: (changes) => {
        this.source.apply(changes);
        this.#wake?.();
      },
      onPresence: (present) => {
        this.presence.push(present);
        this.#wake?.();
      },
    });
  }

  live(): string {
    return this.store.list("ServiceEntry").map((one) => `${one.meta.name}:${one.spec.ports?.[0]?.number}`).join(" ");
  }

  /** The file of an entry in force. */
  fileOf(name: string): string | undefined {
    const origin = this.store.get("ServiceEntry", "default", name)?.origin;
    return origin?.from === "file" ? origin.file : undefined;
  }

  findings(): readonly string[] {
    return this.watched?.index.findings().map(formatFinding) ?? [];
  }

  /** Waits until the condition holds after some change; fails at the deadline. */
  async until(what: string, condition: () => boolean): Promise<void> {
    const deadline = performance.now() + PATIENCE;
    while (!condition()) {
      const left = deadline - performance.now();
      if (left <= 0) assert.fail(`not reached: ${what}; live: ${this.live()}; ${this.findings().join("; ")}`);
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, left);
      });
      clearTimeout(timer);
    }
  }

  lives(expected: string): Promise<void> {
    return this.until(expected, () => this.live() === expected);
  }

  write(path: string, text: string): Promise<void> {
    return Deno.writeTextFile(`${this.root}/${path}`, text);
  }
}

function test(name: string, fn: (folder: Fixture) => Promise<void>): void {
  Deno.test({
    name,
    async fn() {
      const base = await Deno.makeTempDir({ prefix: "config-watch-" });
      await Deno.mkdir(`${base}/root`);
      const folder = new Fixture(base, `${base}/root`);
      try {
        await fn(folder);
      } finally {
        await folder.watched?.stop();
        await Deno.remove(base, { recursive: true });
      }
    },
  });
}

test("the files of the start are read before watching reports changes, in sub-folders too", async (folder) => {
  await Deno.mkdir(`${folder.root}/sub/deep`, { recursive: true });
  await folder.write("a.yaml", entry("a"));
  await folder.write("sub/b.yml", entry("b"));
  await folder.write("sub/deep/c.json", JSON.stringify([]));
  await folder.write("notes.txt", "not ours");
  await folder.write(".hidden.yaml", entry("hidden"));
  await folder.start();
  assert.equal(folder.live(), "a:80 b:80");
  assert.deepEqual([...folder.watched?.index.paths ?? []].sort(), ["a.yaml", "sub/b.yml", "sub/deep/c.json"]);
});

test("a missing folder is refused at the start", async (folder) => {
  await assert.rejects(
    watchFolder({
      root: `${folder.root}/none`,
      parse: { defaultNamespace: "default", source: "" },
      onChanges: () => {},
    }),
    Deno.errors.NotFound,
  );
});

test("files that appear, change and go", async (folder) => {
  await folder.start();
  await folder.write("a.yaml", entry("a"));
  await folder.lives("a:80");
  await folder.write("a.yaml", entry("a", 81));
  await folder.lives("a:81");
  await folder.write("b.yaml", entry("b"));
  await folder.lives("a:81 b:80");
  await Deno.remove(`${folder.root}/a.yaml`);
  await folder.lives("b:80");
});

test("an atomic rename, as editors save", async (folder) => {
  await folder.write("a.yaml", entry("a"));
  await folder.start();
  await folder.write(".a.yaml.tmp", entry("a", 81));
  await Deno.rename(`${folder.root}/.a.yaml.tmp`, `${folder.root}/a.yaml`);
  await folder.lives("a:81");
  await folder.write("a.yaml~", entry("backup"));
  await Deno.rename(`${folder.root}/a.yaml`, `${folder.root}/b.yaml`);
  await folder.until("b.yaml", () => folder.fileOf("a") === "b.yaml");
  assert.equal(folder.live(), "a:81");
});

test("folders that are made with files in them, moved and removed", async (folder) => {
  await folder.start();
  await Deno.mkdir(`${folder.base}/made/deep`, { recursive: true });
  await Deno.writeTextFile(`${folder.base}/made/deep/a.yaml`, entry("a"));
  await Deno.rename(`${folder.base}/made`, `${folder.root}/made`);
  await folder.lives("a:80");
  await Deno.writeTextFile(`${folder.root}/made/deep/a.yaml`, entry("a", 81));
  await folder.lives("a:81");
  await Deno.rename(`${folder.root}/made`, `${folder.root}/moved`);
  await folder.until(
    "moved",
    () => folder.fileOf("a") === "moved/deep/a.yaml",
  );
  await Deno.remove(`${folder.root}/moved`, { recursive: true });
  await folder.lives("");
});

test("a mounted config map swaps all its files at once", async (folder) => {
  const mount = async (version: string, text: string) => {
    await Deno.mkdir(`${folder.root}/..${version}`);
    await folder.write(`..${version}/a.yaml`, text);
    await Deno.symlink(`..${version}`, `${folder.root}/..data_tmp`);
    await Deno.rename(`${folder.root}/..data_tmp`, `${folder.root}/..data`);
  };
  await mount("1", entry("a"));
  await Deno.symlink("..data/a.yaml", `${folder.root}/a.yaml`);
  await folder.start();
  assert.equal(folder.live(), "a:80");
  await mount("2", entry("a", 81));
  await Deno.remove(`${folder.root}/..1`, { recursive: true });
  await folder.lives("a:81");
  await mount("3", entry("a", 82));
  await folder.lives("a:82");
});

test("a truncated write never takes objects away", async (folder) => {
  await folder.write("a.yaml", entry("a") + "---\n" + entry("b"));
  await folder.start(createFakeClock());
  const seen: string[] = [];
  folder.store.subscribe(() => seen.push(folder.live()));
  const text = new TextEncoder().encode(entry("a", 81) + "---\n" + entry("b", 81));
  const file = await Deno.open(`${folder.root}/a.yaml`, { write: true, truncate: true });
  await file.write(text.subarray(0, 150));
  await folder.write("c.yaml", entry("c"));
  await folder.lives("a:80 b:80 c:80");
  await file.write(text.subarray(150));
  file.close();
  await folder.lives("a:81 b:81 c:80");
  for (const state of seen) assert.match(state, /a:\d+ b:\d+/);
});

test("a file that stays empty is taken as empty", async (folder) => {
  await folder.write("a.yaml", entry("a"));
  await folder.start();
  await folder.write("a.yaml", "");
  await folder.lives("");
});

test("a broken file keeps its last good objects, and only it is named", async (folder) => {
  await folder.write("a.yaml", entry("a"));
  await folder.write("b.yaml", entry("b"));
  await folder.start();
  await folder.write("a.yaml", entry("a", 70000));
  await folder.until("a problem", () => folder.findings().length === 1);
  assert.match(
    folder.findings()[0] ?? "",
    /^a\.yaml:6 ServiceEntry default\/a: error: spec\.ports\[0\]\.number: 70000/,
  );
  await folder.write("b.yaml", entry("b", 81));
  await folder.lives("a:80 b:81");
  await folder.write("a.yaml", entry("a", 82));
  await folder.lives("a:82 b:81");
  assert.deepEqual(folder.findings(), []);
});

test("a file that is moved away before it is written keeps its last good objects through a mistake", async (folder) => {
  const clock = createFakeClock();
  const seen: string[] = [];
  folder.store.subscribe(() => seen.push(folder.live()));
  await folder.write("a.yaml", entry("a"));
  await folder.start(clock);
  await Deno.rename(`${folder.root}/a.yaml`, `${folder.root}/a.yaml.bak`);
  await folder.write("b.yaml", entry("b"));
  // The move has been read before the new file appears.
  await folder.lives("a:80 b:80");
  await clock.advance(REMOVAL_MS - 1);
  await folder.write("a.yaml", entry("a", 70000));
  await folder.until("a problem", () => folder.findings().length === 1);
  await clock.advance(REMOVAL_MS);
  await folder.write("b.yaml", entry("b", 81));
  await folder.lives("a:80 b:81");
  for (const state of seen) assert.match(state, /a:\d+/);
});

test("an edit by sed with a backup keeps the last good objects, and a removal takes them away", async (folder) => {
  const clock = createFakeClock();
  await folder.write("a.yaml", entry("a", 82));
  await folder.start(clock);
  const sed = new Deno.Command("sed", { args: ["-i.bak", "s/number: 82/number: 8O/", `${folder.root}/a.yaml`] });
  assert.ok((await sed.output()).success);
  await folder.until("a problem", () => folder.findings().length === 1);
  assert.equal(folder.live(), "a:82");
  assert.match(folder.findings()[0] ?? "", /"8O"/);
  await Deno.remove(`${folder.root}/a.yaml`);
  await folder.write("b.yaml", entry("b"));
  await folder.lives("a:82 b:80");
  await clock.advance(REMOVAL_MS);
  await folder.lives("b:80");
});

test("a folder that is removed keeps serving, and is read again when it is back", async (folder) => {
  await folder.write("a.yaml", entry("a"));
  await folder.start();
  await Deno.rename(folder.root, `${folder.base}/away`);
  await folder.until("missing", () => folder.presence.at(-1) === false);
  assert.equal(folder.live(), "a:80");
  await Deno.mkdir(folder.root);
  await folder.write("a.yaml", entry("a", 81));
  await folder.until("back", () => folder.presence.at(-1) === true);
  await folder.lives("a:81");
  await folder.write("b.yaml", entry("b"));
  await folder.lives("a:81 b:80");
});

test("a folder behind a link follows the link", async (folder) => {
  await Deno.mkdir(`${folder.base}/one`);
  await Deno.mkdir(`${folder.base}/two`);
  await Deno.writeTextFile(`${folder.base}/one/a.yaml`, entry("a"));
  await Deno.writeTextFile(`${folder.base}/two/a.yaml`, entry("a", 81));
  await Deno.symlink(`${folder.base}/one`, `${folder.base}/link`);
  const linked = new Fixture(folder.base, `${folder.base}/link`);
  try {
    await linked.start();
    assert.equal(linked.live(), "a:80");
    await Deno.symlink(`${folder.base}/two`, `${folder.base}/link2`);
    await Deno.rename(`${folder.base}/link2`, `${folder.base}/link`);
    await linked.lives("a:81");
  } finally {
    await linked.watched?.stop();
  }
});

test("links in a circle end", async (folder) => {
  await folder.write("a.yaml", entry("a"));
  await Deno.symlink(".", `${folder.root}/self`);
  await Deno.symlink("nowhere", `${folder.root}/dangling.yaml`);
  await folder.start();
  assert.equal(folder.live(), "a:80");
});

test("a burst of a thousand writes ends in the right state", async (folder) => {
  await folder.start();
  let batches = 0;
  folder.store.subscribe(() => batches++);
  const names = Array.from({ length: 1000 }, (_, index) => `s${String(index).padStart(4, "0")}`);
  await Promise.all(names.map((name) => folder.write(`${name}.yaml`, entry(name))));
  await folder.until("all", () => folder.store.size === 1000);
  assert.ok(batches < 1000, `bursts are taken together (${batches} batches)`);
});

test("a watched file reports its text at once, on change, on swap, when it goes, and when it cannot be read", async (folder) => {
  const texts: FileText[] = [];
  let wake: (() => void) | undefined;
  const path = `${folder.root}/mesh`;
  const file = await watchFile(path, (text) => {
    texts.push(text);
    wake?.();
  });
  const next = async (count: number) => {
    while (texts.length < count) await new Promise<void>((resolve) => wake = resolve);
  };
  try {
    assert.deepEqual(texts, [undefined]);
    // Written in one step of this thread, because a new file is empty for a moment. The same thread reads the file.
    Deno.writeTextFileSync(path, "a: 1\n");
    await next(2);
    await folder.write("mesh.tmp", "a: 2\n");
    await Deno.rename(`${folder.root}/mesh.tmp`, path);
    await next(3);
    await Deno.remove(path);
    await next(4);
    await Deno.mkdir(path);
    await next(5);
    assert.deepEqual(texts.slice(0, 4), [undefined, "a: 1\n", "a: 2\n", undefined]);
    assert.match(JSON.stringify(texts[4]), /unreadable.*got a folder, expected a regular file/);
  } finally {
    await file.stop();
  }
});

Deno.test("reading the folder is all the permission that it needs", async () => {
  const root = await Deno.makeTempDir({ prefix: "config-watch-" });
  try {
    const module = new URL("../../lib/folder/watch.ts", import.meta.url).href;
    const script = `import { watchFolder } from ${JSON.stringify(module)};
      const folder = await watchFolder({ root: Deno.args[0], parse: { defaultNamespace: "d", source: "" }, onChanges: () => {} });
      console.log(folder.index.paths.join());
      await folder.stop();`;
    await Deno.writeTextFile(`${root}/a.yaml`, entry("a"));
    await Deno.writeTextFile(`${root}/main.ts`, script);
    const run = async (permissions: readonly string[]) => {
      const config = new URL("../../deno.json", import.meta.url).pathname;
      const args = ["run", "--no-prompt", "--no-check", `--config=${config}`, ...permissions, `${root}/main.ts`, root];
      const output = await new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "piped" }).output();
      return output.success ? new TextDecoder().decode(output.stdout).trim() : "refused";
    };
    assert.equal(await run([`--allow-read=${root}`]), "a.yaml");
    assert.equal(await run([]), "refused");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
