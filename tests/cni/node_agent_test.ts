/** The installer as a service: restoring, readiness, credentials, the plugin's log, leaving. */
import assert from "node:assert/strict";
import v8 from "node:v8";
import vm from "node:vm";
import { currentRecord } from "../../lib/cni/install/installer.ts";
import { readOrchConfig } from "../../lib/cni/install/orch_config.ts";
import { systemFileCalls } from "../../lib/cni/node/file_calls.ts";
import { post } from "../../lib/cni/plugin/report.ts";
import { NearPods } from "../../lib/cni/pods/near.ts";
import { must } from "./support/commands.ts";
import { injectedPod } from "./support/orch.ts";
import { PRIMARY } from "./support/place.ts";
import { config, startOther, text, withService } from "./support/service.ts";
import { PATIENCE, until } from "../patience.ts";

const scripts = new URL("../testdata/cni/", import.meta.url).pathname;

Deno.test("a service installs, says that it is ready, and counts it", async () => {
  await withService(async ({ place, page, metric, agent }) => {
    assert.equal(agent.installer.notReady, undefined);
    assert.match(text(place), /"mesh-cni"/);
    assert.deepEqual(await page("/healthz"), [200, "ok\n"]);
    assert.deepEqual(await page("/readyz"), [200, "ok\n"]);
    assert.equal((await page("/other"))[0], 404);
    assert.deepEqual(await metric("mesh_cni_install_ready"), ["mesh_cni_install_ready 1"]);
    assert.deepEqual(await metric("mesh_cni_installs_total"), [`mesh_cni_installs_total{result="SUCCESS"} 1`]);
    const entry = JSON.parse(text(place)).plugins.at(-1);
    assert.deepEqual(entry, {
      name: "mesh-cni",
      type: "mesh-cni",
      plugin_log_level: "info",
      cni_agent_run_dir: place.folders.run,
      ambient_enabled: false,
      exclude_namespaces: ["kube-system"],
      pod_namespace: "mesh-system",
      agent_pods: "mesh-cni-node-",
    });
  });
});

Deno.test("without a primary it is not ready and says why; when one comes, it is chained at once", async () => {
  await withService(
    async ({ place, page, agent }) => {
      assert.deepEqual(await page("/healthz"), [200, "ok\n"]);
      assert.deepEqual(await page("/readyz"), [503, "no valid network configuration is there yet\n"]);
      place.config(config, PRIMARY);
      await until("chained", () => text(place).includes("mesh-cni"));
      await until("ready", () => agent.installer.notReady === undefined);
    },
    {},
    () => {},
  );
});

for (const how of ["moved over it", "written in place"]) {
  Deno.test(`a primary that others rewrite (${how}) is chained again by the event, long before the next look at it`, async () => {
    await withService(async ({ place }) => {
      await Deno.writeTextFile(`${place.dir}/source`, PRIMARY);
      const args = [`${scripts}rewrite.py`, `${place.folders.net}/${config}`, `${place.dir}/source`, "9"];
      const said = await must("/usr/bin/python3", [...args, ...(how === "written in place" ? ["x"] : [])]);
      const gaps = said.trim().split("\n").map(Number).toSorted((a, b) => a - b);
      assert.equal(gaps.length, 9);
      if (Deno.env.get("MESH_SHOW_NUMBERS") !== undefined) console.log(`gaps in ms, ${how}:`, gaps.join(" "));
      // Some 10 ms on a quiet machine; looks without an event are 10 s apart.
      assert((gaps[4] ?? Infinity) < 5000, `gaps in ms: ${gaps.join(" ")}`);
    });
  });
}

Deno.test("with a file of our own, rewrites of the primary never show the runtime a network without the plugin", async () => {
  await withService(async ({ place }) => {
    const own = `${place.folders.net}/02-mesh-cni.conflist`;
    assert.equal(text(place), PRIMARY, "the primary is not touched");
    const other = PRIMARY.replace("flannel", "cilium-cni");
    for (let i = 0; i < 5; i++) {
      place.config(config, i % 2 === 0 ? other : PRIMARY);
      const wanted = i % 2 === 0 ? "cilium-cni" : "flannel";
      await until("made anew", () => {
        const now = Deno.readTextFileSync(own);
        assert.match(now, /mesh-cni/);
        return now.includes(wanted);
      });
    }
    Deno.removeSync(own);
    await until(
      "put back",
      () => [...Deno.readDirSync(place.folders.net)].some((e) => e.name === "02-mesh-cni.conflist"),
    );
  }, { owned: true });
});

Deno.test("an executable that is removed or changed is restored, and a renewed token is passed on", async () => {
  await withService(async ({ place }) => {
    const executable = `${place.folders.bin}/mesh-cni`;
    Deno.removeSync(executable);
    await until("executable back", () => place.files()["bin/mesh-cni 755"] === "#!/bin/sh\n");
    Deno.writeTextFileSync(executable, "#!/bin/ls\n");
    await until("executable restored", () => Deno.readTextFileSync(executable) === "#!/bin/sh\n");
    const token = () => readOrchConfig(Deno.readTextFileSync(`${place.folders.run}/mesh-cni-orchconfig`)).token;
    assert.equal(token(), "token-1");
    // Like the orchestrator: a new file moved over the old file.
    Deno.writeTextFileSync(`${place.credentials}/..new`, "token-2\n");
    Deno.renameSync(`${place.credentials}/..new`, `${place.credentials}/token`);
    await until("new token", () => token() === "token-2");
    assert.match(place.files()["run/mesh-cni-orchconfig 600"] ?? "", /certificate-authority-data/);
  });
});

Deno.test("missing credentials: not ready, counted, the configuration does not name a plugin that cannot work", async () => {
  await withService(
    async ({ place, page, metric }) => {
      assert.match((await page("/readyz"))[1], /token/);
      assert.equal(text(place), PRIMARY);
      assert.match((await metric("mesh_cni_installs_total")).join(), /result="CREATE_KUBECONFIG_FAILURE"} \d/);
      Deno.writeTextFileSync(`${place.credentials}/token`, "late");
      await until("ready", async () => (await page("/readyz"))[0] === 200);
      assert.match(text(place), /mesh-cni/);
    },
    {},
    (place) => {
      place.config(config, PRIMARY);
      Deno.removeSync(`${place.credentials}/token`);
    },
  );
});

Deno.test("lines of the plugin are logged under its scope, in their level; input that is no line does no harm", async () => {
  await withService(async ({ place, lines }) => {
    const socket = `${place.folders.run}/log.sock`;
    assert.equal((Deno.lstatSync(socket).mode ?? 0) & 0o777, 0o600);
    const line = JSON.stringify({ level: "error", scope: "x", time: "t", msg: "ADD: no\nforged", pod: "a/b" });
    await post(socket, "/log", [line, "plain", 7, "{"], PATIENCE);
    await assert.rejects(post(socket, "/log", { not: "an array" }, PATIENCE), /expected an array of texts/);
    await assert.rejects(post(socket, "/other", [], PATIENCE), /no page/);
    const ours = lines.filter((l) => l.includes("\tcni-plugin\t")).map((l) => l.split("\t").slice(1).join(" "));
    assert.deepEqual(ours, [
      "error cni-plugin ADD: no\\nforged pod=a/b\n",
      "info cni-plugin plain\n",
      "info cni-plugin {\n",
    ]);
  });
});

const set = { metadata: { uid: "set-1" } };
const own = {
  metadata: {
    namespace: "mesh-system",
    name: "mesh-cni-node-aaaaa",
    ownerReferences: [{ kind: "DaemonSet", name: "mesh-cni-node", uid: "set-1" }],
  },
};

Deno.test("an installer that ends for an upgrade or a restart leaves all in place, and a record for the next", async () => {
  await withService(async (service) => {
    const { place, orch, kernel } = service;
    orch.put(own);
    orch.daemonSets.set("mesh-system/mesh-cni-node", set);
    await kernel.stopper.stop();
    assert.match(text(place), /mesh-cni/);
    const record = currentRecord(place.folders, systemFileCalls);
    assert.deepEqual([record?.state, record?.placement, record?.config], ["handed over", "chained", config]);
    assert.match(record?.reason ?? "", /another installer is expected/);
    // The next installer wants another placement, and takes over.
    const other = await startOther(service, { owned: true, podName: "mesh-cni-node-bbbbb" });
    assert.equal(text(place), PRIMARY);
    assert.match(text(place, "02-mesh-cni.conflist"), /mesh-cni/);
    const taken = currentRecord(place.folders, systemFileCalls);
    assert.deepEqual([taken?.state, taken?.installer], ["installed", "mesh-cni-node-bbbbb"]);
    await other.stopper.stop();
  });
});

Deno.test("an installer whose daemon set is gone gives back every byte", async () => {
  await withService(async ({ place, orch, kernel }) => {
    orch.put(own);
    await kernel.stopper.stop();
    assert.deepEqual(place.files(), { [`net.d/${config} 644`]: PRIMARY });
  });
});

Deno.test("an orchestrator that does not answer at the end is no reason to take the plugin away", async () => {
  await withService(async ({ place, orch, kernel }) => {
    orch.refusal = { status: 503, body: "overloaded" };
    await kernel.stopper.stop();
    assert.match(text(place), /mesh-cni/);
    assert.match(currentRecord(place.folders, systemFileCalls)?.reason ?? "", /did not say/);
  });
});

Deno.test("a program that rewrites the file again and again is reported, and does not keep the machine busy", async () => {
  await withService(async ({ place, lines }) => {
    const isReported = () => lines.some((line) => line.includes("MESH_OWNED_CNI_CONFIG=true ends that fight"));
    for (let i = 0; i < 40 && !isReported(); i++) {
      place.config(config, PRIMARY);
      await until("restored", () => text(place).includes("mesh-cni"));
    }
    assert(isReported(), lines.join(""));
  });
});

v8.setFlagsFromString("--expose_gc");
const collectGarbage: () => void = vm.runInNewContext("gc");

/**
 * Open connections of servers on Unix sockets below a folder, and memory in use. The servers' ends count: the process
 * has descriptors of other tests too, which come and go.
 */
async function holdings(folder: string): Promise<{ connections: number; megabytes: number }> {
  // Columns: Num, RefCount, Protocol, Flags, Type, St, Inode, Path. Listeners are in state 01.
  const rows = (await must("/bin/cat", ["/proc/net/unix"])).split("\n").map((line) => line.split(/ +/));
  const connections = rows.filter(({ 5: state, 7: path }) => path?.startsWith(`${folder}/`) && state !== "01").length;
  collectGarbage();
  return { connections, megabytes: Deno.memoryUsage().heapUsed / 1024 / 1024 };
}

Deno.test("4,000 calls of plugins, also of some that go away early, leave no socket and no object behind", async () => {
  await withService(async ({ place, orch, lines }) => {
    orch.put(injectedPod("shop", "cart-0"));
    const socket = `${place.folders.run}/log.sock`;
    const far = { pod: () => assert.fail("asked far"), namespaceLabels: () => assert.fail("asked far") };
    const burst = async (count: number) => {
      for (let i = 0; i < count; i += 20) {
        await Promise.all(Array.from({ length: 20 }, async (_, k) => {
          assert.equal((await new NearPods(socket, far, PATIENCE).pod("shop", "cart-0"))?.name, "cart-0");
          if (k % 4 === 0) {
            // A killed plugin: half a request, and nothing more.
            using connection = await Deno.connect({ transport: "unix", path: socket });
            await connection.write(
              new TextEncoder().encode("POST /log HTTP/1.1\r\nhost: node\r\ncontent-length: 99\r\n\r\n["),
            );
          } else await post(socket, "/log", [JSON.stringify({ level: "info", msg: "ADD" })], PATIENCE);
        }));
        lines.length = 0;
        orch.asked.length = 0;
      }
    };
    {
      using _ = await Deno.connect({ transport: "unix", path: socket });
      await until("an open connection is seen", async () => (await holdings(place.folders.run)).connections === 1);
    }
    await burst(1000);
    const before = await holdings(place.folders.run);
    await burst(3000);
    await until("every connection is closed", async () => (await holdings(place.folders.run)).connections === 0);
    const grown = (await holdings(place.folders.run)).megabytes - before.megabytes;
    assert(grown < 5, `${grown.toFixed(1)} MB more after 3,000 calls than after 1,000`);
  });
});
