import assert from "node:assert/strict";

const script = new URL("../../../scripts/orchestrator/main.ts", import.meta.url).pathname;

/**
 * A cache folder, and a stand-in for Go that records its builds. With a file `hold` the stand-in waits half-way for
 * ever.
 */
async function machine() {
  const folder = await Deno.makeTempDir();
  const go = `${folder}/go`;
  // The arguments are the arguments of `go build`: the output file stands after -o.
  const lines = [
    "#!/bin/sh",
    '[ "$1" = version ] && exit 0',
    'while [ "$1" != -o ]; do shift; done',
    'echo half > "$2"',
    `echo $$ >> ${folder}/builds`,
    `[ -e ${folder}/hold ] && exec sleep 1000`,
    `[ -e ${folder}/broken ] && { echo no such module >&2; exit 1; }`,
    'echo whole > "$2"',
  ];
  await Deno.writeTextFile(go, lines.join("\n"), { mode: 0o755 });
  const start = (program = "kube-apiserver") =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-prompt", "--no-check", "-RWE", "--allow-run", script, program],
      env: { GO: go, XDG_CACHE_HOME: folder },
      ...{ stdin: "null", stdout: "null", stderr: "piped" },
    }).spawn();
  const made = async () => {
    const [version] = [...Deno.readDirSync(`${folder}/mesh-tests`)];
    return await Deno.readTextFile(`${folder}/mesh-tests/${version!.name}/kube-apiserver`).catch(() => undefined);
  };
  /** Process ids of the builds so far. */
  const builds = async () => (await Deno.readTextFile(`${folder}/builds`)).trim().split("\n").map(Number);
  return { folder, start, made, builds, remove: () => Deno.remove(folder, { recursive: true }) };
}

Deno.test("two processes that need the API server at the same time build it once", async () => {
  const { start, made, builds, remove } = await machine();
  const both = await Promise.all([start().output(), start().output()]);
  assert.deepEqual(both.map(({ success }) => success), [true, true]);
  assert.equal((await builds()).length, 1);
  assert.equal(await made(), "whole\n");
  await remove();
});

Deno.test("a build that is killed half-way leaves no program, and the next build makes it", async () => {
  const { folder, start, made, builds, remove } = await machine();
  await Deno.writeTextFile(`${folder}/hold`, "");
  const watcher = Deno.watchFs(folder);
  const killed = start();
  for await (const { paths } of watcher) if (paths.some((path) => path.endsWith("/builds"))) break;
  killed.kill("SIGKILL");
  await killed.output();
  assert.equal(await made(), undefined);
  await Deno.remove(`${folder}/hold`);
  assert.equal((await start().output()).success, true);
  assert.equal(await made(), "whole\n");
  Deno.kill((await builds())[0]!, "SIGKILL");
  await remove();
});

Deno.test("a failed build reports Go's message, and leaves no program", async () => {
  const { folder, start, made, remove } = await machine();
  await Deno.writeTextFile(`${folder}/broken`, "");
  const { success, stderr } = await start().output();
  assert.equal(success, false);
  assert.match(new TextDecoder().decode(stderr), /kube-apiserver was not built:\nno such module/);
  assert.equal(await made(), undefined);
  await remove();
});
