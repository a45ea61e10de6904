/** Installations on a real disk, cut off at every change, on full and read-only disks, and beside each other. */
import assert from "node:assert/strict";
import { choosePrimary, ownEntries } from "../../../lib/cni/config/libcni.ts";
import { isConfigName } from "../../../lib/cni/config/network.ts";
import { type DesiredState, install, InstallError, uninstall } from "../../../lib/cni/install/installer.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { must, namespaceTest, run } from "../support/commands.ts";
import { cutOff, Killed } from "../support/faults.ts";
import { Place, PRIMARY } from "../support/place.ts";

const SINGLE = `{ "cniVersion": "0.3.1", "name": "cbr0", "type": "bridge" }`;
const script = new URL("../support/killed_install.ts", import.meta.url).pathname;

/** Asserts the invariant: the runtime finds the network, and no plugin that cannot be called. */
function assertWorking(place: Place, when: string): void {
  const configurations = [...Deno.readDirSync(place.folders.net)].filter(({ name }) => isConfigName(name))
    .map(({ name }) => ({ name, text: Deno.readTextFileSync(`${place.folders.net}/${name}`) }));
  const { primary } = choosePrimary(configurations);
  assert.equal(primary?.name, "cbr0", when);
  if (ownEntries(primary).length === 0) return;
  assert.equal((Deno.statSync(`${place.folders.bin}/mesh-cni`).mode ?? 0) & 0o777, 0o755, `${when}: executable`);
  Deno.statSync(`${place.folders.run}/mesh-cni-orchconfig`);
  const files = /mesh-cni\.files\/\w+/.exec(Deno.readTextFileSync(`${place.folders.bin}/mesh-cni`))?.[0];
  if (files === undefined) return;
  assert.equal(Deno.statSync(`${place.folders.bin}/${files}/deno`).size, Deno.statSync("/bin/true").size, when);
  assert.equal(Deno.statSync(`${place.folders.bin}/${files}/plugin.js`).size, Deno.statSync(script).size, when);
}

const desiredStates: [string, string, string, Partial<DesiredState>][] = [
  ["a list", "10-flannel.conflist", PRIMARY, {}],
  ["a single configuration", "10-flannel.conf", SINGLE, {}],
  ["a file of our own", "10-flannel.conflist", PRIMARY, { placement: "owned" }],
  ["a runtime and a plugin", "10-flannel.conflist", PRIMARY, { executable: { runtime: "/bin/true", plugin: script } }],
  ["a copied executable", "10-flannel.conflist", PRIMARY, { executable: { copyOf: "/bin/true" } }],
];

for (const [what, name, text, more] of desiredStates) {
  Deno.test(`${what}: cut off at any change, the network works; the next run completes it; all is given back`, () => {
    let changes = 1;
    for (let at = 0; at < changes; at++) {
      using place = new Place();
      place.config(name, text, 0o640);
      const before = place.files();
      const first = cutOff(systemFileCalls, at);
      try {
        install(place.folders, place.desired(more), first, Date.now);
      } catch (error) {
        assert((error as Error).cause instanceof Killed);
      }
      changes = Math.max(changes, first.made() + (first.made() > at ? 1 : 0));
      assertWorking(place, `installation cut off at ${at}`);
      const done = install(place.folders, place.desired(more), systemFileCalls, Date.now);
      assert.equal(done.waiting, undefined);
      assertWorking(place, "completed");
      assert.deepEqual(Object.keys(place.files()).filter((file) => file.includes("unfinished")), []);
      assert.deepEqual(install(place.folders, place.desired(more), systemFileCalls, Date.now).changed, []);
      try {
        uninstall(place.folders, cutOff(systemFileCalls, at));
      } catch (error) {
        assert(error instanceof Killed);
      }
      assertWorking(place, `uninstallation cut off at ${at}`);
      uninstall(place.folders, systemFileCalls);
      assert.deepEqual(place.files(), before);
    }
    assert(changes > 12, `only ${changes} changes were tried`);
  });
}

Deno.test("a process that is killed at any change leaves a working network, and no file that stays", async () => {
  const killed = async (what: string, place: Place, at: number) => {
    const args = [
      "run",
      "--quiet",
      "--no-prompt",
      "--cached-only",
      "--allow-read",
      "--allow-write",
      "--allow-env",
      "--allow-sys",
      "--allow-net",
      script,
      what,
      place.dir,
      String(at),
    ];
    return (await run(Deno.execPath(), args)).code !== 0;
  };
  for (const what of ["install", "uninstall"]) {
    for (let at = 0, more = true; more; at++) {
      using place = new Place();
      place.config("10-flannel.conf", SINGLE);
      const before = place.files();
      if (what === "uninstall") install(place.folders, place.desired(), systemFileCalls, Date.now);
      more = await killed(what, place, at);
      assertWorking(place, `${what} killed at ${at}`);
      install(place.folders, place.desired(), systemFileCalls, Date.now);
      uninstall(place.folders, systemFileCalls);
      assert.deepEqual(place.files(), before);
      assert(at < 60);
    }
  }
});

Deno.test("modes: the orchestrator config as asked, configurations as they were, the executable for all", () => {
  using place = new Place();
  place.config("10-flannel.conflist", PRIMARY, 0o600);
  install(place.folders, place.desired({ orchConfigMode: 0o640 }), systemFileCalls, Date.now);
  assert.deepEqual(Object.keys(place.files()).toSorted(), [
    "bin/mesh-cni 755",
    "net.d/.mesh-cni-record 644",
    "net.d/10-flannel.conflist 600",
    "run/mesh-cni-orchconfig 640",
  ]);
});

Deno.test("installers beside each other take turns: one entry, no leftovers", async () => {
  using place = new Place();
  place.config("10-flannel.conflist", PRIMARY);
  const before = place.files();
  const args = [
    "run",
    "--quiet",
    "--no-prompt",
    "--cached-only",
    "--allow-read",
    "--allow-write",
    "--allow-env",
    "--allow-sys",
    "--allow-net",
    script,
  ];
  const start = (what: string) => must(Deno.execPath(), [...args, what, place.dir, "-1"]);
  await Promise.all(Array.from({ length: 6 }, (_, i) => start(i === 2 ? "uninstall" : "install")));
  await start("install");
  const { plugins } = JSON.parse(Deno.readTextFileSync(`${place.folders.net}/10-flannel.conflist`));
  assert.deepEqual(plugins.map((p: { type: string }) => p.type), ["flannel", "portmap", "mesh-cni"]);
  uninstall(place.folders, systemFileCalls);
  assert.deepEqual(place.files(), before);
});

/** Calls work with a small disk mounted at a folder. */
async function withDisk(folder: string, work: () => Promise<void> | void, size = "64k"): Promise<void> {
  await must("mount", ["-t", "tmpfs", "-o", `size=${size}`, "mcni", folder]);
  try {
    await work();
  } finally {
    await must("umount", ["--lazy", folder]);
  }
}

namespaceTest(
  "a full disk: the earlier installation stays, the failed part is named, and free space lets it succeed",
  async () => {
    using place = new Place();
    await withDisk(place.folders.net, () => {
      place.config("10-flannel.conflist", PRIMARY);
      const fill = `${place.folders.net}/fill`;
      try {
        Deno.writeFileSync(fill, new Uint8Array(1 << 20));
      } catch {
        // The disk is full now.
      }
      assert.throws(
        () => install(place.folders, place.desired(), systemFileCalls, Date.now),
        (error) =>
          error instanceof InstallError && error.part === "CREATE_CNI_CONFIG_FAILURE" &&
          /No space left/.test(error.message),
      );
      assert.equal(Deno.readTextFileSync(`${place.folders.net}/10-flannel.conflist`), PRIMARY);
      assert.deepEqual([...Deno.readDirSync(place.folders.net)].map((e) => e.name).toSorted(), [
        "10-flannel.conflist",
        "fill",
      ]);
      Deno.removeSync(fill);
      assert.equal(install(place.folders, place.desired(), systemFileCalls, Date.now).waiting, undefined);
    });
  },
);

namespaceTest(
  "a read-only disk: the refusal names the place to look at, and no configuration names the plugin in vain",
  async () => {
    using place = new Place();
    place.config("10-flannel.conflist", PRIMARY);
    await withDisk(place.folders.bin, async () => {
      await must("mount", ["-o", "remount,ro", place.folders.bin]);
      assert.throws(
        () => install(place.folders, place.desired(), systemFileCalls, Date.now),
        (error) =>
          error instanceof InstallError && error.part === "COPY_BINARIES_FAILURE" &&
          /Read-only file system.*is the node's folder mounted, writable/i.test(error.message),
      );
      assert.equal(Deno.readTextFileSync(`${place.folders.net}/10-flannel.conflist`), PRIMARY);
      const there = place.desired({ executable: undefined });
      assert.equal(install(place.folders, there, systemFileCalls, Date.now).config, "10-flannel.conflist");
    });
  },
);
