/** What the installer puts back without a restart, and what the installer must leave alone meanwhile. */
import assert from "node:assert/strict";
import { currentRecord, install } from "../../lib/cni/install/installer.ts";
import { systemFileCalls } from "../../lib/cni/node/file_calls.ts";
import { Installer } from "../../lib/cni/install/loop.ts";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { createMetrics } from "../../lib/kernel/metrics/registry.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { link } from "./support/commands.ts";
import { injectedPod } from "./support/orch.ts";
import { ENTRY, Place, PRIMARY } from "./support/place.ts";
import { config, eventsAlone, startOther, text, withService } from "./support/service.ts";
import { until } from "../patience.ts";

Deno.test("an installation that had to wait for a primary is counted, once", async () => {
  await withService(
    async ({ place, metric, agent }) => {
      assert.deepEqual(await metric("mesh_cni_installs_total{"), []);
      place.config(config, PRIMARY);
      await until("ready", () => agent.installer.notReady === undefined);
      assert.deepEqual(await metric("mesh_cni_installs_total{"), [`mesh_cni_installs_total{result="SUCCESS"} 1`]);
    },
    {},
    () => {},
  );
});

Deno.test("without its executable in place no configuration names the plugin, also after another program rewrote one", async () => {
  await withService(
    async ({ place, page, metric }) => {
      const failures = async () =>
        Number(/COPY_BINARIES_FAILURE"} (\d+)/.exec((await metric("mesh_cni_installs_total")).join())?.[1] ?? 0);
      const before = await failures();
      assert(before > 0);
      const other = PRIMARY.replace("flannel", "cilium-cni");
      place.config(config, other);
      await until("the rewrite was noticed", async () => await failures() > before);
      assert.equal(text(place), other);
      assert.equal((await page("/readyz"))[0], 503);
      Deno.removeSync(place.folders.bin);
      await until("ready", async () => (await page("/readyz"))[0] === 200);
      assert.match(text(place), /mesh-cni/);
    },
    {},
    (place) => {
      place.config(config, PRIMARY);
      Deno.removeSync(place.folders.bin);
      Deno.writeTextFileSync(place.folders.bin, "no folder");
    },
  );
});

Deno.test("folders that came after the start are watched too", async () => {
  await withService(
    async ({ place }) => {
      Deno.removeSync(`${place.folders.bin}/mesh-cni`);
      await until("executable back", () => place.files()["bin/mesh-cni 755"] !== undefined);
    },
    {},
    (place) => {
      place.config(config, PRIMARY);
      Deno.removeSync(place.folders.bin);
    },
    undefined,
    eventsAlone,
  );
});

Deno.test("a primary behind a link gets its entry back in the file behind the link, upon the event of its owner's write", async () => {
  await withService(
    async ({ place }) => {
      const real = `${place.dir}/real/primary.txt`;
      assert.match(Deno.readTextFileSync(real), /mesh-cni/);
      Deno.writeTextFileSync(`${place.dir}/real/new`, PRIMARY);
      Deno.renameSync(`${place.dir}/real/new`, real);
      await until("chained again", () => Deno.readTextFileSync(real).includes("mesh-cni"));
      assert(Deno.lstatSync(`${place.folders.net}/${config}`).isSymlink);
    },
    {},
    (place) => {
      Deno.mkdirSync(`${place.dir}/real`);
      Deno.writeTextFileSync(`${place.dir}/real/primary.txt`, PRIMARY);
      link("../real/primary.txt", `${place.folders.net}/${config}`);
    },
    undefined,
    eventsAlone,
  );
});

Deno.test("files that the runtime passes over are reported once, as a warning", async () => {
  await withService(
    async ({ place, lines, agent }) => {
      const warnings = () => lines.filter((line) => line.includes("05-half.conflist is passed over")).length;
      assert.equal(warnings(), 1);
      place.config(config, PRIMARY);
      await until("the entry is back", () => text(place).includes("mesh-cni"));
      assert.deepEqual([warnings(), agent.installer.notReady], [1, undefined]);
    },
    {},
    (place) => {
      place.config("05-half.conflist", `{"name":"n","plu`);
      place.config(config, PRIMARY);
    },
  );
});

Deno.test("a warning reports a named configuration that the runtime does not take", async () => {
  await withService(
    async ({ lines }) => {
      await until("reported", () => lines.some((line) => /\twarn\t.*the runtime takes 05-a\.conflist, not/.test(line)));
    },
    { confName: config },
    (place) => {
      place.config("05-a.conflist", PRIMARY);
      place.config(config, PRIMARY);
    },
  );
});

Deno.test("two installers with different options on one node report each other", async () => {
  await withService(async (service) => {
    const { lines } = service;
    const other = await startOther(service, { logLevel: "debug", podName: "mesh-cni-node-bbbbb" });
    await until(
      "reported",
      () => lines.some((line) => line.includes("another installer, mesh-cni-node-bbbbb, is at work on this node")),
    );
    await other.stopper.stop();
  });
});

Deno.test("two installers with different options damp each other: from ten changes on each waits half a second", async () => {
  using place = new Place();
  place.config(config, PRIMARY);
  const lines: string[] = [];
  const decoder = new TextDecoder();
  const open = () => ({ write: (bytes: Uint8Array) => void lines.push(decoder.decode(bytes)), close() {} });
  const log = createLog([], { ...defaultLogOptions, targets: ["test"] }, { open }).scope("cni-agent");
  let changes = 0;
  const calls = {
    ...systemFileCalls,
    rename(from: string, to: string) {
      if (to.endsWith(config)) changes++;
      systemFileCalls.rename(from, to);
    },
  };
  const both = ["a", "b"].map((name) => {
    const clock = createFakeClock();
    const desired = () => place.desired({ installer: name, entry: { ...ENTRY, plugin_log_level: name } });
    const metrics = createMetrics("install-cni");
    const { folders, credentials } = place;
    return {
      clock,
      installer: new Installer({ folders, credentials, desired, keepExecutable: false, calls, clock, log, metrics }),
    };
  });
  for (const { installer } of both) installer.start();
  let seen = { changes, at: performance.now() };
  await until("one of them waits", () => {
    if (changes !== seen.changes) seen = { changes, at: performance.now() };
    if (performance.now() - seen.at > 500) {
      // The kernel may drop events of a burst, and no clock goes on here: another event lets both look again.
      Deno.utimeSync(`${place.folders.net}/${config}`, new Date(), new Date());
      seen.at = performance.now();
    }
    return lines.some((line) => line.includes("another installer, "));
  });
  /** Resolves when no event has brought about a change for 100 ms. */
  const quiet = async () => {
    for (let before = -1; before !== changes; await new Promise((resolve) => setTimeout(resolve, 100))) {
      before = changes;
    }
  };
  await quiet();
  assert(changes <= 2 * 10 + 1, `${changes} changes before they wait`);
  const steps = 8;
  const before = changes;
  for (let i = 0; i < steps; i++) {
    for (const { clock } of both) await clock.advance(500);
    await quiet();
  }
  await until("neither gives up", () => changes > before);
  // Some earlier changes may come late.
  assert(changes <= 2 * 10 + 1 + 2 * steps, `${changes} changes before they wait and in ${steps} half seconds`);
  assert.equal(lines.filter((line) => line.includes("another installer, ")).length <= 2, true, "each reports it once");
  for (const { installer } of both) await installer.stop();
});

Deno.test("a run folder that is removed is created again, with the plugin's file and the agent's socket", async () => {
  await withService(async ({ place, lines }) => {
    const { run } = place.folders;
    for (let times = 1; times <= 2; times++) {
      Deno.removeSync(run, { recursive: true });
      await until("address back", () => systemFileCalls.stat(`${run}/mesh-cni-orchconfig`)?.is === "file");
      await until("socket back", async () => {
        try {
          (await Deno.connect({ transport: "unix", path: `${run}/log.sock` })).close();
          return true;
        } catch {
          return false;
        }
      });
      await until("reported", () => lines.filter((line) => line.includes("the run folder was gone")).length === times);
    }
  });
});

Deno.test("the service repairs broken pods as its options say, counts them, and goes on after the API was away", async () => {
  const repair = {
    repairPods: false,
    deletePods: false,
    labelPods: true,
    labelKey: "cni.mesh.io/uninitialized",
    labelValue: "yes",
    nodeName: "n1",
    sidecarAnnotation: "sidecar.mesh.io/status",
    fieldSelectors: "",
    labelSelectors: "",
    initContainerName: "mesh-validation",
    initContainerExitCode: 126,
    terminationMessage: undefined,
  };
  const broken = (name: string, nodeName: string) => ({
    ...injectedPod("shop", name, { spec: { nodeName } }),
    status: { initContainerStatuses: [{ name: "mesh-validation", lastState: { terminated: { exitCode: 126 } } }] },
  });
  await withService(
    async ({ orch, metric, lines }) => {
      const labelled = (name: string) => orch.pods.get(`shop/${name}`).metadata.labels["cni.mesh.io/uninitialized"];
      orch.put(broken("elsewhere", "n2"));
      orch.put(broken("first", "n1"));
      await until("labelled", () => labelled("first") === "yes");
      orch.refusal = { status: 503, body: "away" };
      orch.breakWatches();
      await until("reported", () => lines.some((line) => /\twarn\tcni-agent\tpods cannot be watched.*503/.test(line)));
      assert.match((await metric("controller_sync_errors_total")).join(), /\{cluster="c1"\} \d/);
      orch.refusal = undefined;
      orch.put(broken("second", "n1"));
      await until("labelled too", () => labelled("second") === "yes");
      assert.equal(labelled("elsewhere"), undefined);
      const counted = /\{type="label",result="success"\} 2/;
      await until("counted", async () => counted.test((await metric("mesh_cni_repair_pods_repaired_total")).join()));
    },
    {},
    undefined,
    repair,
  );
});

Deno.test("an installer whose own pod was deleted by force leaves the plugin, because nobody knows whether its set still exists", async () => {
  await withService(async ({ place, kernel }) => {
    await kernel.stopper.stop();
    assert.match(text(place), /mesh-cni/);
    assert.equal(currentRecord(place.folders, systemFileCalls)?.state, "handed over");
  });
});

Deno.test("a program that removes our own configuration again and again is reported, with a way to end that", async () => {
  await withService(async ({ place, lines }) => {
    const own = `${place.folders.net}/02-mesh-cni.conflist`;
    // Like a primary that wants to be alone in the folder.
    for (let i = 0; i < 12; i++) {
      Deno.renameSync(own, `${own}.cilium_bak`);
      await until("put back", () => [...Deno.readDirSync(place.folders.net)].some((e) => own.endsWith(`/${e.name}`)));
    }
    await until(
      "reported",
      () => lines.some((line) => line.includes("again and again; configure it to share the folder")),
    );
  }, { owned: true });
});

Deno.test("a file in the place of the folder of configurations is reported once; installing works once it is a folder", async () => {
  await withService(
    async ({ place, page, lines }) => {
      assert.match((await page("/readyz")).join(), /503,the folder of network configurations, .* or no folder/);
      Deno.removeSync(place.folders.net);
      Deno.mkdirSync(place.folders.net);
      place.config(config, PRIMARY);
      await until("ready", async () => (await page("/readyz"))[0] === 200);
      assert.equal(lines.filter((line) => line.includes("the plugin is not installed")).length, 1);
    },
    {},
    (place) => {
      Deno.removeSync(place.folders.net);
      Deno.writeTextFileSync(place.folders.net, "no folder");
    },
  );
});

Deno.test("a fault that lasts is reported once, although the names of unfinished files differ", () => {
  using place = new Place();
  place.config(config, PRIMARY);
  const full = { ...systemFileCalls };
  const write = (path: string) => {
    throw new Error(`No space left on device (os error 28): open '${path}'`);
  };
  const messages = [1, 2].map(() => {
    try {
      install(place.folders, place.desired(), { ...full, write }, Date.now);
    } catch (error) {
      return (error as Error).message;
    }
  });
  assert.deepEqual(
    messages,
    Array(2).fill(`No space left on device (os error 28): open '${place.folders.bin}/mesh-cni'`),
  );
});
