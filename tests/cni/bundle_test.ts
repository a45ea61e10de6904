/** The installer as its image has it: a folder of JavaScript, a launcher and the runtime, and nothing of the tree. */
import assert from "node:assert/strict";
import { bundleSpec, launcherPath } from "../../scripts/bundle.ts";
import { compileArguments, permissionSets } from "../../scripts/compile.ts";
import { namespaceTest, obstacle, run } from "./support/commands.ts";
import { installerVariables, startInstaller } from "./support/installer_process.ts";
import { CA } from "./support/place.ts";
import { TestNode } from "./support/node.ts";
import { FakeOrch, injectedPod } from "./support/orch.ts";

const root = new URL("../../", import.meta.url).pathname;
const { folder } = bundleSpec("install-cni");
/** A bundle needs a bundler, which is fetched when missing. */
const isMade = obstacle() === undefined && await bundleProgram();
const bundleTest = isMade
  ? namespaceTest
  : (name: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${name} (ignored: the bundle cannot be made here)`, ignore: true, fn });

/** Makes the bundle in a process of its own, which may write to the tree. */
async function bundleProgram(): Promise<boolean> {
  const args = ["run", "--no-prompt", "--allow-read", "--allow-write=dist", "--allow-run=deno", "scripts/bundle.ts"];
  const { success } = await new Deno.Command("deno", { args: [...args, "install-cni"], cwd: root }).output();
  return success;
}

/** A copy of the bundle, as in an image of its own. */
async function copyTo(place: string): Promise<string> {
  await Deno.mkdir(place);
  for (const { name } of Deno.readDirSync(`${root}${folder}`)) {
    await Deno.copyFile(`${root}${folder}/${name}`, `${place}/${name}`);
  }
  return `${place}/install-cni`;
}

bundleTest(
  "a copy of the bundle installs the plugin with its runtime, examines the node, is upgraded, and removes everything",
  async () => {
    await using node = await TestNode.make();
    const orch = new FakeOrch();
    try {
      await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, node.primary());
      await Deno.writeTextFile(`${node.saDir}/ca.crt`, CA);
      await Deno.writeTextFile(`${node.saDir}/token`, orch.token);
      const owner = { kind: "DaemonSet", name: "mesh-cni-node", uid: "set" };
      orch.put({ metadata: { namespace: "mesh-system", name: "mesh-cni-node-abcde", ownerReferences: [owner] } });
      orch.daemonSets.set("mesh-system/mesh-cni-node", { metadata: { uid: "set" } });
      const env = installerVariables(node, orch);
      const program = await copyTo(`${node.dir}/image-1`);

      const first = await startInstaller([program], env, "serving");
      const launcher = await Deno.readTextFile(`${node.binDir}/mesh-cni`);
      assert(!launcher.includes(root) && !launcher.includes("image-1"), "the launcher names nothing of the image");
      const pod = orch.put(injectedPod("shop", "cart-0"));
      const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
      const added = await node.chain("ADD", sandbox);
      assert(added.ok, JSON.stringify(added));
      const doctor = await run(program, ["doctor"], { env });
      assert.match(doctor.out, /^ok +trial .*, and a connection went through it$/m);
      assert.match(doctor.out, /rules +shop\/cart-0 \(.*\): as expected/);
      assert.equal((await first.stop()).code, 0);

      // The image before is gone from the node. A call goes on with the files that were placed.
      await Deno.remove(`${node.dir}/image-1`, { recursive: true });
      assert((await node.chain("CHECK", sandbox, added.result)).ok);
      const upgrade = await copyTo(`${node.dir}/image-2`);
      await Deno.writeTextFile(`${node.dir}/image-2/plugin_entry.js`, "\n// Another version.\n", { append: true });
      const second = await startInstaller([upgrade], env, "serving");
      assert.notEqual(await Deno.readTextFile(`${node.binDir}/mesh-cni`), launcher);
      const other = await node.sandbox("shop", "cart-0", pod.metadata.uid);
      assert((await node.chain("ADD", other)).ok);
      orch.daemonSets.clear();
      const gone = await second.stop();
      assert.equal(gone.code, 0, gone.err);
      assert.deepEqual([...Deno.readDirSync(node.binDir)], []);
    } finally {
      await orch.stop();
    }
  },
);

bundleTest(
  "the installer's launcher gives the flags and permissions that an executable has, and no others",
  async () => {
    const launcher = await Deno.readTextFile(`${root}${launcherPath("install-cni")}`);
    const flags = (words: readonly string[]) => words.filter((word) => /^--(?:allow|v8-flags|no-prompt)/.test(word));
    const quoted = [...launcher.matchAll(/'([^']*)'/g)].map(([, word]) => word!);
    const compiled = compileArguments("install-cni", permissionSets()["install-cni"]!);
    assert.deepEqual(flags(quoted).sort(), flags(compiled).sort());
  },
);
