/** The program under its own permission set: installer, plugin and doctor as people and runtimes start them. */
import assert from "node:assert/strict";
import { CA } from "./support/place.ts";
import { installerVariables, startInstaller } from "./support/installer_process.ts";
import { namespaceTest, run } from "./support/commands.ts";
import { TestNode } from "./support/node.ts";
import { FakeOrch, injectedPod } from "./support/orch.ts";
import { until } from "../patience.ts";

const repository = new URL("../../", import.meta.url).pathname;
const line = [
  "run",
  "--quiet",
  "--no-prompt",
  "--cached-only",
  "-P=install-cni",
  `${repository}cmd/install-cni/main.ts`,
];

const program = [Deno.execPath(), ...line];

namespaceTest(
  "installer, runtime, doctor, upgrade, uninstallation: one node's life, each program with its own permissions",
  async () => {
    await using node = await TestNode.make();
    const orch = new FakeOrch();
    try {
      const primary = node.primary();
      await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, primary);
      await Deno.writeTextFile(`${node.saDir}/ca.crt`, CA);
      await Deno.writeTextFile(`${node.saDir}/token`, orch.token);
      const env = installerVariables(node, orch);
      const owner = { kind: "DaemonSet", name: "mesh-cni-node", uid: "set" };
      orch.put({ metadata: { namespace: "mesh-system", name: "mesh-cni-node-abcde", ownerReferences: [owner] } });
      orch.daemonSets.set("mesh-system/mesh-cni-node", { metadata: { uid: "set" } });
      const doctor = (...args: string[]) => run(Deno.execPath(), [...line, "doctor", ...args], { env });

      const before = await doctor();
      assert.equal(before.code, 1);
      assert.match(before.out, /^3 problems: configuration, executable, orchestrator$/m);

      const first = await startInstaller(
        program,
        { ...env, SKIP_TLS_VERIFY: "true", LOG_LEVEL: "info" },
        "introspection=",
        "--ctrlz_port=0",
      );
      const introspection = /introspection=(\d+)/.exec(first.text)?.[1];
      assert.deepEqual(await (await fetch(`http://127.0.0.1:${introspection}/argsj/`)).json(), ["--ctrlz_port=0"]);
      const pod = orch.put(injectedPod("shop", "cart-0"));
      const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
      const added = await node.chain("ADD", sandbox);
      assert(added.ok, JSON.stringify(added));
      // The plugin gives a line up that the installer does not take in a moment. A runtime may call again.
      const [list, prevResult] = [node.chosen(), added.result];
      const again = { ...list?.plugins.at(-1), cniVersion: "1.0.0", name: "testnet", prevResult };
      await until("the plugin's line is in the installer's log", async () => {
        if (/cni-plugin\tADD: redirected/.test(first.text)) return true;
        assert.equal((await node.call("ADD", again, sandbox)).code, 0);
        return false;
      }, 500);
      const ended = await first.stop();
      assert.deepEqual([ended.code, ended.err], [0, ""]);
      assert.match(ended.text, /left in place for the next installer/);

      assert.equal(node.chosen()?.plugins.at(-1)?.["type"], "mesh-cni", "an upgrade leaves the plugin");
      const between = await doctor();
      assert.deepEqual([between.code, between.err], [0, ""]);
      assert.match(between.out, /^ok +trial .*, and a connection went through it$/m);
      // Without rules in the namespace the trial fails.
      const words = [`--net=/run/netns/${node.name}`, "--", Deno.execPath(), ...line, "doctor", "--probe-here"];
      const open = await run("nsenter", words, { env });
      assert.deepEqual([open.code, open.err], [1, ""]);
      assert.match(open.out, /^IPv4: connections to .* port 15002 do not reach port 15006 within 5000 ms: /);
      assert.match(between.out, /rules +shop\/cart-0 \(.*\): as expected/);
      assert.match(
        between.out,
        /record +chained in 10-test\.conflist by mesh-cni-node-abcde.*it ended: the daemon set stays/,
      );
      assert.match(between.out, /^healthy/m);
      await run("nsenter", [`--net=${sandbox.netns}`, "iptables-nft", "-t", "nat", "-F", "MESH_INBOUND"]);
      const drifted = JSON.parse((await doctor("-o", "json")).out);
      assert.equal(drifted.verdict, "1 problem: rules");

      const second = await startInstaller(program, { ...env, MESH_OWNED_CNI_CONFIG: "true" }, "serving");
      assert.equal(node.chosen()?.file, "02-mesh-cni.conflist");
      assert.equal(await Deno.readTextFile(`${node.netDir}/10-test.conflist`), primary);
      orch.daemonSets.clear();
      const gone = await second.stop();
      assert.equal(gone.code, 0, gone.err);
      assert.deepEqual([...Deno.readDirSync(node.netDir)].map((e) => e.name), ["10-test.conflist"]);
      assert.equal(await Deno.readTextFile(`${node.netDir}/10-test.conflist`), primary);
      assert.deepEqual([...Deno.readDirSync(node.binDir)], []);

      orch.daemonSets.set("mesh-system/mesh-cni-node", { metadata: { uid: "set" } });
      await (await startInstaller(program, env, "serving")).stop();
      const removed = await run(Deno.execPath(), [...line, "uninstall"], { env });
      assert.deepEqual([removed.code, removed.err], [0, ""]);
      assert.equal(await Deno.readTextFile(`${node.netDir}/10-test.conflist`), primary);
      assert.match((await run(Deno.execPath(), [...line, "uninstall"], { env })).out, /nothing of the plugin/);
      assert.deepEqual([...Deno.readDirSync(node.runDir)].map((e) => e.name), ["install.lock"]);
      await Deno.remove(`${node.runDir}/install.lock`);
      await Deno.mkdir(`${node.runDir}/install.lock`);
      const stuck = await run(Deno.execPath(), [...line, "uninstall"], { env });
      assert.deepEqual([stuck.code, stuck.err.split("\n").length], [1, 2], stuck.err);
      assert.match(
        stuck.err,
        /^Error: uninstall: \S*install\.lock: got a folder, expected a regular file; the next uninstall does the rest/,
      );
      const elsewhere = { ...env, CNI_AGENT_RUN_DIR: `${node.dir}/none` };
      assert.equal((await run(Deno.execPath(), [...line, "uninstall"], { env: elsewhere })).code, 0);
      assert.throws(() => Deno.statSync(`${node.dir}/none`), Deno.errors.NotFound);
    } finally {
      await orch.stop();
    }
  },
);
