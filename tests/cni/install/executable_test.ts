/** The runtime and the plugin in a folder beside the launcher: placed, replaced and removed while calls go on. */
import assert from "node:assert/strict";
import {
  type Executable,
  neededFiles,
  placeExecutable,
  removeExecutable,
} from "../../../lib/cni/install/executable.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { run } from "../support/commands.ts";

/** A folder of executables with a space in its path, and a runtime: a script that shows how it was called. */
async function place() {
  const dir = await Deno.makeTempDir({ prefix: "mcni-" });
  const bin = `${dir}/opt cni's/bin`;
  const runtime = `${dir}/runtime`;
  await Deno.writeTextFile(runtime, '#!/bin/sh\nprintf "%s\\n" "$0" "$DENO_DIR" "$@"\n', { mode: 0o755 });
  let now = Date.now();
  return {
    bin,
    runtime,
    later: (ms: number) => void (now += ms),
    async install(plugin: string): Promise<boolean> {
      await Deno.writeTextFile(`${dir}/plugin`, plugin);
      const executable: Executable = { runtime, plugin: `${dir}/plugin` };
      return placeExecutable(bin, executable, systemFileCalls, () => now, "by bytes");
    },
    call: (env: Record<string, string> = { CNI_COMMAND: "VERSION" }) =>
      run(`${bin}/mesh-cni`, ["one argument"], { env, clearEnv: true }),
    folders: () => [...Deno.readDirSync(`${bin}/mesh-cni.files`)].map(({ name }) => name),
    [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }),
  };
}

/** The folder in the launcher of a node. */
function folderOf(bin: string): string {
  return /mesh-cni\.files\/\w+/.exec(Deno.readTextFileSync(`${bin}/mesh-cni`))![0];
}

Deno.test("a call runs the plugin by the placed runtime, keeps compiled code beside both, and is given few rights", async () => {
  await using node = await place();
  assert.equal(await node.install("plugin"), true);
  const folder = `${node.bin}/${folderOf(node.bin)}`;
  const { code, out, err } = await node.call();
  assert.deepEqual([code, err], [0, ""]);
  const [runtime, compiled, command, ...words] = out.trimEnd().split("\n");
  assert.deepEqual([runtime, compiled, command], [`${folder}/deno`, `${folder}/compiled`, "run"]);
  assert.deepEqual(words.slice(-2), [`${folder}/plugin.js`, "one argument"]);
  assert.equal(await Deno.readTextFile(`${folder}/plugin.js`), "plugin");
  assert(words.includes("--no-prompt") && words.includes("--allow-run=nsenter"));
  for (const word of words) assert.doesNotMatch(word, /^(-A|--allow-all|--allow-(run|env|write))$/);
});

Deno.test("a call by people says who calls the plugin, and where the state of the node is", async () => {
  await using node = await place();
  await node.install("plugin");
  const { code, out, err } = await node.call({});
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, /called by the container runtime, with CNI_COMMAND; .* install-cni doctor\n$/);
});

Deno.test("an upgrade leaves the files of the launcher before, until a minute has passed", async () => {
  await using node = await place();
  await node.install("first");
  const first = folderOf(node.bin);
  // A call that has read the launcher, and opens the files later.
  const files = [`${node.bin}/${first}/deno`, `${node.bin}/${first}/plugin.js`];
  assert.equal(await node.install("second"), true);
  const second = folderOf(node.bin);
  assert.notEqual(second, first);
  for (const file of files) assert(Deno.statSync(file).isFile);
  node.later(59_000);
  assert.equal(await node.install("second"), false);
  assert.equal(node.folders().length, 2);
  node.later(2_000);
  assert.equal(await node.install("second"), false);
  assert.deepEqual(node.folders(), [second.slice("mesh-cni.files/".length)]);
  assert.equal((await node.call()).code, 0);
});

Deno.test("a damaged file is replaced by a whole one: a process that runs the old one goes on", async () => {
  await using node = await place();
  await node.install("plugin");
  const plugin = `${node.bin}/${folderOf(node.bin)}/plugin.js`;
  await Deno.writeTextFile(plugin, "PLUGIN");
  using open = await Deno.open(plugin);
  assert.equal(await node.install("plugin"), true);
  assert.equal(await Deno.readTextFile(plugin), "plugin");
  assert.equal(await new Response(open.readable).text(), "PLUGIN");
  assert.equal(await node.install("plugin"), false);
});

Deno.test("removal leaves nothing: launcher, files of every version, compiled code", async () => {
  await using node = await place();
  await node.install("first");
  await node.install("second");
  await Deno.mkdir(`${node.bin}/${folderOf(node.bin)}/compiled/npm`, { recursive: true });
  await Deno.writeTextFile(`${node.bin}/${folderOf(node.bin)}/compiled/code`, "code");
  await Deno.writeTextFile(`${node.bin}/bridge`, "another plugin");
  const changed = removeExecutable(node.bin, systemFileCalls);
  assert.deepEqual(changed, [`removed ${node.bin}/mesh-cni`, `removed ${node.bin}/mesh-cni.files`]);
  assert.deepEqual([...Deno.readDirSync(node.bin)].map(({ name }) => name), ["bridge"]);
  assert.deepEqual(removeExecutable(node.bin, systemFileCalls), []);
});

Deno.test("the files that a placed launcher needs are known, with their modes and whether their contents are its own", async () => {
  await using node = await place();
  assert.equal(neededFiles(node.bin, systemFileCalls), undefined, "no launcher");
  await node.install("plugin");
  const folder = `${node.bin}/${folderOf(node.bin)}`;
  const seen = () => {
    const { files, same } = neededFiles(node.bin, systemFileCalls)!;
    return { ...Object.fromEntries(files.map(({ path, mode }) => [path.slice(folder.length + 1), mode])), same };
  };
  assert.deepEqual(seen(), { deno: 0o755, "plugin.js": 0o644, same: true });
  await Deno.writeTextFile(`${folder}/plugin.js`, "another");
  assert.deepEqual(seen(), { deno: 0o755, "plugin.js": 0o644, same: false });
  await Deno.chmod(`${folder}/deno`, 0o600);
  await Deno.remove(`${folder}/plugin.js`);
  assert.deepEqual(seen(), { deno: 0o600, "plugin.js": undefined, same: false });
  await Deno.writeTextFile(`${node.bin}/mesh-cni`, "#!/bin/sh\n");
  assert.equal(neededFiles(node.bin, systemFileCalls), undefined, "another script");
});
