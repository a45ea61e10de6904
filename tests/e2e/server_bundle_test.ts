/** The server in the form for images: a folder of JavaScript with a launcher, without the source tree. */
import assert from "node:assert/strict";
import { bundleSpec, launcherPath } from "../../scripts/bundle.ts";
import { compileArguments, permissionSets } from "../../scripts/compile.ts";
import { startServer } from "../../scripts/demo/server.ts";
import { TestProxy } from "../debug/proxy.ts";

const root = new URL("../../", import.meta.url).pathname;
const { folder } = bundleSpec("pilot-discovery");
/** The bundle needs a bundler, which is fetched if missing. */
const isMade = await bundleProgram();

async function bundleProgram(): Promise<boolean> {
  const args = ["run", "--no-prompt", "--allow-read", "--allow-write=dist", "--allow-run=deno", "scripts/bundle.ts"];
  const { success } = await new Deno.Command("deno", { args: [...args, "pilot-discovery"], cwd: root }).output();
  return success;
}

Deno.test({
  name: "a start finds the image's compiled code in a folder that it may write to, and needs no such folder",
  ignore: !isMade,
  fn: async () => {
    const place = await Deno.makeTempDir({ prefix: "mesh-bundle-" });
    try {
      await Deno.copyFile(`${root}${launcherPath("pilot-discovery")}`, `${place}/pilot-discovery`);
      await Deno.mkdir(`${place}/bin`);
      await Deno.writeTextFile(`${place}/bin/deno`, '#!/bin/sh\necho "$DENO_DIR"\n', { mode: 0o755 });
      const env = { PATH: `${place}/bin:/usr/bin:/bin`, TMPDIR: `${place}/tmp` };
      const start = async (more: Record<string, string> = {}) => {
        const words = { args: [], env: { ...env, ...more }, clearEnv: true };
        const { code, stdout, stderr } = await new Deno.Command(`${place}/pilot-discovery`, words).output();
        assert.deepEqual([code, new TextDecoder().decode(stderr)], [0, ""]);
        return new TextDecoder().decode(stdout).trim();
      };
      assert.equal(await start(), "", "no image: no compiled code");
      await Deno.mkdir(`${place}/compiled`);
      await Deno.writeTextFile(`${place}/compiled/code`, "compiled");
      assert.equal(await start(), "", "no folder to write to");
      await Deno.mkdir(`${place}/tmp`);
      const folder = `${place}/tmp/pilot-discovery.compiled`;
      assert.equal(await start(), folder);
      assert.equal(await Deno.readTextFile(`${folder}/code`), "compiled");
      await Deno.writeTextFile(`${folder}/code`, "more");
      assert.equal(await start(), folder);
      assert.equal(await Deno.readTextFile(`${folder}/code`), "more", "the next start has the code of this one");
      assert.deepEqual([...Deno.readDirSync(`${place}/tmp`)].map(({ name }) => name), ["pilot-discovery.compiled"]);
      assert.equal(await start({ DENO_DIR: "/elsewhere" }), "/elsewhere");
    } finally {
      await Deno.remove(place, { recursive: true });
    }
  },
});

Deno.test({
  name: "a copy of the server's bundle serves a folder, previews other files, and has the commands for files",
  ignore: !isMade,
  fn: async () => {
    const place = await Deno.makeTempDir({ prefix: "mesh-bundle-" });
    try {
      for (const { name } of Deno.readDirSync(`${root}${folder}`)) {
        await Deno.copyFile(`${root}${folder}/${name}`, `${place}/${name}`);
      }
      const program = `${place}/pilot-discovery`;
      const mesh = `${root}examples/first-steps/mesh`;
      const server = await startServer(mesh, { program: [program], cwd: place });
      try {
        using proxy = await TestProxy.attach(server.grpcPort);
        const pages = `http://127.0.0.1:${server.httpPort}`;
        assert.match(await (await fetch(`${pages}/debug/connections`)).text(), /a\.x/);
        const files = { "mesh.yaml": await Deno.readTextFile(`${mesh}/routes.yaml`) };
        const headers = { "content-type": "application/json" };
        const asked = { method: "POST", body: JSON.stringify({ files }), headers };
        assert.deepEqual((await (await fetch(`${pages}/debug/preview`, asked)).json()).same, false);
        assert.ok(proxy);
        const asks = `--server=127.0.0.1:${server.httpPort}`;
        const run = (...args: string[]) => new Deno.Command(program, { args, cwd: place }).output();
        const report = await run("bug-report", asks, "--cluster=false", "--archive=-");
        assert.deepEqual([...report.stdout.subarray(0, 2)], [0x1f, 0x8b], new TextDecoder().decode(report.stderr));
        const absent = await run("describe", "pod", "absent.absent", asks);
        assert.match(`${absent.code} ${new TextDecoder().decode(absent.stderr)}`, /^2 Error: http:.*absent/);
        const check = await run("precheck", "--orchconfig=/nowhere/config");
        assert.match(`${check.code} ${new TextDecoder().decode(check.stderr)}`, /^2 Error: flag --orchconfig: /);
      } finally {
        await server.stop();
      }
      const { code, stdout } = await new Deno.Command(program, { args: ["check", mesh], cwd: place }).output();
      assert.equal(code, 0, new TextDecoder().decode(stdout));
    } finally {
      await Deno.remove(place, { recursive: true });
    }
  },
});

Deno.test({
  name: "the launcher of the server's bundle gives the flags and permissions that an executable has, and no others",
  ignore: !isMade,
  fn: async () => {
    const launcher = await Deno.readTextFile(`${root}${launcherPath("pilot-discovery")}`);
    const flags = (words: readonly string[]) => words.filter((word) => /^--(?:allow|v8-flags|no-prompt)/.test(word));
    const quoted = [...launcher.matchAll(/'([^']*)'/g)].map(([, word]) => word!);
    const compiled = compileArguments("pilot-discovery", permissionSets()["pilot-discovery"]!);
    assert.deepEqual(flags(quoted).sort(), flags(compiled).sort());
  },
});
