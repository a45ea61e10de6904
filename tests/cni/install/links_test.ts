/** Configurations other than plain files: links are links again afterwards, and unreadable files harm nothing. */
import assert from "node:assert/strict";
import { install, uninstall } from "../../../lib/cni/install/installer.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { cutOff, Killed } from "../support/faults.ts";
import { link, must } from "../support/commands.ts";
import { Place, PRIMARY } from "../support/place.ts";

const SINGLE = `{ "cniVersion": "0.3.1", "name": "cbr0", "type": "bridge" }`;

/** Everything in the folder of configurations and in the folder of linked files. */
function seen(place: Place): Record<string, string> {
  const found: Record<string, string> = {};
  for (const folder of [place.folders.net, `${place.dir}/real`]) {
    for (const { name, isSymlink } of Deno.readDirSync(folder)) {
      const path = `${folder}/${name}`;
      found[path.slice(place.dir.length)] = isSymlink ? `-> ${Deno.readLinkSync(path)}` : Deno.readTextFileSync(path);
    }
  }
  return found;
}

/** A place with a link as its configuration. */
function linked(name: string, text: string): Place {
  const place = new Place();
  Deno.mkdirSync(`${place.dir}/real`);
  Deno.writeTextFileSync(`${place.dir}/real/${name}`, text);
  link(`../real/${name}`, `${place.folders.net}/${name}`);
  return place;
}

for (const [name, text] of [["10-a.conflist", PRIMARY], ["10-a.conf", SINGLE]] as const) {
  Deno.test(`a link, ${name}: chained, and a link again afterwards, wherever it is cut off`, () => {
    let changes = 1;
    for (let at = 0; at < changes; at++) {
      using place = linked(name, text);
      const before = seen(place);
      const first = cutOff(systemFileCalls, at);
      try {
        install(place.folders, place.desired(), first, Date.now);
      } catch (error) {
        assert((error as Error).cause instanceof Killed);
      }
      changes = Math.max(changes, first.made() + (first.made() > at ? 1 : 0));
      const { config } = install(place.folders, place.desired(), systemFileCalls, Date.now);
      assert.equal(config, "10-a.conflist");
      assert.match(Deno.readTextFileSync(`${place.folders.net}/${config}`), /"mesh-cni"/);
      const isLink = Deno.lstatSync(`${place.folders.net}/${config}`).isSymlink;
      assert.equal(isLink, name.endsWith("list"), "a list is changed where the link leads to");
      try {
        uninstall(place.folders, cutOff(systemFileCalls, at));
      } catch (error) {
        assert(error instanceof Killed);
      }
      uninstall(place.folders, systemFileCalls);
      assert.deepEqual(seen(place), before, `cut off at ${at}`);
    }
    assert(changes > 12, `only ${changes} changes were tried`);
  });
}

Deno.test("a link that was replaced by a file meanwhile does not come back", () => {
  using place = linked("10-a.conf", SINGLE);
  install(place.folders, place.desired(), systemFileCalls, Date.now);
  const other = SINGLE.replace("bridge", "ptp");
  place.config("10-a.conf", other);
  install(place.folders, place.desired(), systemFileCalls, Date.now);
  uninstall(place.folders, systemFileCalls);
  assert.deepEqual(seen(place), { "/net.d/10-a.conf": other, "/real/10-a.conf": SINGLE });
});

const odd: [string, (path: string) => unknown, RegExp][] = [
  ["a link to a folder", (path) => link("/etc", path), /05-x\.conflist: got a folder, expected a regular file/],
  ["a pipe", (path) => must("mkfifo", [path]), /05-x\.conflist: got a named pipe, expected a regular file/],
  ["a link to a device", (path) => link("/dev/zero", path), /05-x\.conflist: got a device, expected a regular file/],
  ["a link that leads nowhere", (path) => link("/nowhere/x", path), /a link that leads nowhere/],
];
for (const [what, make, reason] of odd) {
  Deno.test(`${what} among the configurations is passed over with the reason; the others work`, async () => {
    using place = new Place();
    place.config("10-a.conflist", PRIMARY);
    const before = place.files();
    await make(`${place.folders.net}/05-x.conflist`);
    const done = install(place.folders, place.desired(), systemFileCalls, Date.now);
    assert.deepEqual([done.config, done.waiting], ["10-a.conflist", undefined]);
    assert.match(done.remarks.join(), reason);
    uninstall(place.folders, systemFileCalls);
    assert.deepEqual(place.files(), before);
    Deno.lstatSync(`${place.folders.net}/05-x.conflist`);
  });
}

Deno.test("a folder of configurations that is not there is named, and none is made in its place", () => {
  using place = new Place();
  Deno.removeSync(place.folders.net);
  const done = install(place.folders, place.desired(), systemFileCalls, Date.now);
  assert.equal(
    done.waiting,
    `the folder of network configurations, ${place.folders.net}, is not there, or no folder: is the node's folder mounted?`,
  );
  assert.throws(() => Deno.statSync(place.folders.net), Deno.errors.NotFound);
  Deno.mkdirSync(place.folders.net);
});

Deno.test("the time of a change is not that of a file that was moved there from earlier", async () => {
  using place = new Place();
  const path = `${place.folders.net}/10-a.conflist`;
  place.config("10-a.conflist", PRIMARY);
  assert.equal(systemFileCalls.stat(path)?.modified, Deno.statSync(path).mtime!.getTime());
  await Deno.utime(path, 1, 1);
  assert.equal(systemFileCalls.stat(path)?.modified, undefined);
  assert.equal(install(place.folders, place.desired(), systemFileCalls, Date.now).gap, undefined);
});

Deno.test("a configuration of absurd size is passed over, not held in memory", async () => {
  using place = new Place();
  place.config("10-a.conflist", PRIMARY);
  await Deno.truncate(
    (Deno.writeTextFileSync(`${place.folders.net}/05-x.conf`, "{"), `${place.folders.net}/05-x.conf`),
    1 << 30,
  );
  const done = install(place.folders, place.desired(), systemFileCalls, Date.now);
  assert.deepEqual([done.config, done.remarks], ["10-a.conflist", [
    "05-x.conf is passed over: it is larger than 8388608 bytes",
  ]]);
});

Deno.test("executables are compared without holding them: equal, different at the end, one longer", () => {
  using place = new Place();
  const [a, b] = [`${place.dir}/a`, `${place.dir}/b`];
  for (const size of [0, 1, 256 * 1024, 256 * 1024 + 1, 3 << 20]) {
    const bytes = new Uint8Array(size).fill(7);
    Deno.writeFileSync(a, bytes);
    Deno.writeFileSync(b, bytes);
    assert(systemFileCalls.sameContents(a, b), `${size}`);
    Deno.writeFileSync(b, new Uint8Array([...bytes, 7]));
    assert(!systemFileCalls.sameContents(a, b), `${size} and one more`);
    if (size === 0) continue;
    Deno.writeFileSync(b, bytes.with(-1, 8));
    assert(!systemFileCalls.sameContents(a, b), `${size}, the last differs`);
  }
});
