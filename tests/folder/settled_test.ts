import assert from "node:assert/strict";
import { watchFolder } from "../../lib/folder/watch.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { until } from "../patience.ts";

const entry = (name: string, port: number) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name} }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
`;

/** A watched folder; `now` resolves with the live objects after reading all files. */
function test(
  name: string,
  run: (root: string, now: () => Promise<string>, stop: () => Promise<void>, store: ConfigStore) => Promise<void>,
): void {
  Deno.test(name, async () => {
    const base = await Deno.makeTempDir({ prefix: "config-settled-" });
    const root = `${base}/root`;
    await Deno.mkdir(root);
    const store = new ConfigStore();
    const source = store.addSource("", 0);
    const parse = { defaultNamespace: "default", source: "" };
    const watched = await watchFolder({ root, parse, onChanges: (changes) => void source.apply(changes) });
    const now = async () => {
      await watched.settled();
      return store.list("ServiceEntry").map((one) => `${one.meta.name}:${one.spec.ports?.[0]?.number}`).join(" ");
    };
    try {
      await run(root, now, () => watched.stop(), store);
    } finally {
      await watched.stop();
      await Deno.remove(base, { recursive: true });
    }
  });
}

test("settled: a file written the moment before has been read, again and again", async (root, now) => {
  for (let port = 1000; port < 1100; port++) {
    Deno.writeTextFileSync(`${root}/a.yaml`, entry("a", port));
    assert.equal(await now(), `a:${port}`);
  }
  Deno.writeTextFileSync(`${root}/.b.new`, entry("b", 80));
  Deno.renameSync(`${root}/.b.new`, `${root}/b.yaml`);
  assert.equal(await now(), "a:1099 b:80");
  Deno.removeSync(`${root}/a.yaml`);
  assert.equal(await now(), "b:80");
  Deno.mkdirSync(`${root}/deep/er`, { recursive: true });
  Deno.writeTextFileSync(`${root}/deep/er/c.yaml`, entry("c", 81));
  assert.equal(await now(), "b:80 c:81");
});

test("settled: all callers at once get the files written before, also while a sweep runs", async (root, now) => {
  for (let round = 0; round < 20; round++) {
    Deno.writeTextFileSync(`${root}/a.yaml`, entry("a", 2000 + round));
    const first = now();
    Deno.writeTextFileSync(`${root}/b.yaml`, entry("b", 2000 + round));
    const [, second, third] = await Promise.all([first, now(), now()]);
    assert.deepEqual([second, third], Array(2).fill(`a:${2000 + round} b:${2000 + round}`));
  }
});

test("settled: a file that looks half-written is waited for", async (root, now) => {
  const whole = entry("a", 80);
  Deno.writeTextFileSync(`${root}/a.yaml`, whole);
  assert.equal(await now(), "a:80");
  Deno.writeTextFileSync(`${root}/a.yaml`, entry("a", 81).trimEnd());
  assert.equal(await now(), "a:81");
});

test("settled: a folder that was replaced is read where it is now", async (root, now) => {
  Deno.writeTextFileSync(`${root}/a.yaml`, entry("a", 80));
  assert.equal(await now(), "a:80");
  Deno.mkdirSync(`${root}.new`);
  Deno.writeTextFileSync(`${root}.new/a.yaml`, entry("a", 81));
  Deno.renameSync(root, `${root}.old`);
  Deno.renameSync(`${root}.new`, root);
  assert.equal(await now(), "a:81");
});

test("settled: comes back when the folder is gone, and when watching ends", async (root, now, stop) => {
  Deno.writeTextFileSync(`${root}/a.yaml`, entry("a", 80));
  assert.equal(await now(), "a:80");
  Deno.removeSync(root, { recursive: true });
  assert.equal(await now(), "a:80", "its objects stay");
  const pending = now();
  await stop();
  await pending;
  assert.equal(await now(), "a:80");
});

test("settled: a removal is waited for, removals after the call are not", async (root, now, _stop, store) => {
  Deno.writeTextFileSync(`${root}/a.yaml`, entry("a", 80));
  assert.equal(await now(), "a:80");
  Deno.removeSync(`${root}/a.yaml`);
  let answer: string | undefined;
  const asked = now().then((live) => answer = live);
  // At each moment some other file has been gone for less than the time of a removal.
  for (let round = 0; answer === undefined; round++) {
    assert.ok(round < 500, "the answer waits for files that were removed after the question");
    const name = `other${round}`;
    Deno.writeTextFileSync(`${root}/${name}.yaml`, entry(name, 80));
    await until(name, () => store.get("ServiceEntry", "default", name) !== undefined);
    Deno.removeSync(`${root}/${name}.yaml`);
  }
  assert.doesNotMatch(await asked, /\ba:/);
});
