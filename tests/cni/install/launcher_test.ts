/** The plugin on a node without a compiled executable: as a single file, or as sources. */
import assert from "node:assert/strict";
import { PLUGIN_BUNDLE } from "../../../cmd/install-cni/bundle.ts";
import { currentBundle } from "../../../cmd/program_bundle.ts";
import { launcherScript, pluginPermissions } from "../../../lib/cni/install/launcher.ts";
import { CniError } from "../../../lib/cni/plugin/protocol.ts";
import { quickRun } from "../../../lib/cni/plugin/quick_run.ts";
import { systemRedirector } from "../../../lib/cni/plugin/system_redirector.ts";
import { must, namespaceTest, run } from "../support/commands.ts";
import { chainedText } from "../support/chained.ts";
import { TestNode } from "../support/node.ts";
import { FakeOrch, injectedPod } from "../support/orch.ts";

const repository = new URL("../../../", import.meta.url).pathname;

Deno.test("the plugin in one file may do nothing that the program may not", () => {
  const { permissions } = JSON.parse(Deno.readTextFileSync(`${repository}deno.json`));
  const program: Record<string, true | string[]> = permissions["install-cni"];
  for (const [kind, wanted] of Object.entries(pluginPermissions)) {
    const given = program[kind];
    if (given === true) continue;
    assert(Array.isArray(given) && wanted !== true, kind);
    const allowed = (name: string) =>
      given.some((one) => one === name || one.endsWith("*") && name.startsWith(one.slice(0, -1)));
    assert.deepEqual(wanted.filter((name) => !allowed(name)), [], kind);
  }
  assert.doesNotMatch(launcherScript("/deno", "/tree/", "/bundle.js"), /--allow-all|-A\b|--allow-(run|env|write)'/);
});

Deno.test("a file that was made of other sources is not taken", async () => {
  const dir = await Deno.makeTempDir({ prefix: "mcni-" }) + "/";
  try {
    assert.equal(currentBundle(dir, PLUGIN_BUNDLE), undefined, "none");
    await Deno.mkdir(`${dir}dist/plugin`, { recursive: true });
    await Deno.writeTextFile(`${dir}a.ts`, "one");
    const write = (text: string) => Deno.writeTextFile(`${dir}dist/plugin/sources.json`, text);
    await write("{");
    assert.equal(currentBundle(dir, PLUGIN_BUNDLE), undefined, "half a list");
    await write("{}");
    assert.equal(currentBundle(dir, PLUGIN_BUNDLE), undefined, "of nothing");
    await write(JSON.stringify({ "a.ts": 0x2a2a2a }));
    assert.equal(currentBundle(dir, PLUGIN_BUNDLE), undefined, "another text");
    const number = [..."one"].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 0x01000193) >>> 0, 0x811c9dc5);
    await write(JSON.stringify({ "a.ts": number }));
    assert.equal(currentBundle(dir, PLUGIN_BUNDLE), `${dir}dist/plugin/plugin_entry.js`);
    await Deno.remove(`${dir}a.ts`);
    assert.equal(currentBundle(dir, PLUGIN_BUNDLE), undefined, "a source is gone");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

for (const from of ["one file", "sources", "placed files"] as const) {
  namespaceTest(
    `the plugin from ${from}: redirects a pod by a bare environment; people get the program, or its name`,
    async () => {
      await using node = await TestNode.make();
      const orch = new FakeOrch();
      try {
        await Deno.writeTextFile(`${node.netDir}/10-test.conflist`, chainedText(node));
        await node.placePlugin(orch, { from });
        const script = await Deno.readTextFile(`${node.binDir}/mesh-cni`);
        if (from === "placed files") assert(!script.includes(repository), "nothing of the tree");
        assert.equal(script.includes("plugin_entry.js"), from === "one file", "run `deno task setup`");
        const pod = orch.put(injectedPod("shop", "cart-0"));
        const sandbox = await node.sandbox("shop", "cart-0", pod.metadata.uid);
        assert((await node.chain("ADD", sandbox)).ok);
        assert.match(await must("nsenter", [`--net=${sandbox.netns}`, "iptables-nft-save"]), /-j MESH_OUTPUT\n/);
        const version = await run(`${node.binDir}/mesh-cni`, ["version", "--short"], { clearEnv: true });
        if (from === "placed files") {
          assert.match(version.err, /is called by the container runtime.* install-cni doctor/);
        } else assert.deepEqual([version.code, version.err], [0, ""]);
      } finally {
        await orch.stop();
      }
    },
  );
}

const unknown = { has: () => false, add() {}, version: () => undefined, addVersion() {}, forget() {} };

namespaceTest(
  "a namespace that is gone is reported by its path, and commands in it fail",
  async () => {
    const networkNamespace = "/run/netns/mcni-there-is-none";
    const quick = quickRun({ networkNamespace }, unknown);
    for (
      const [command, ...args] of [["iptables-nft-save"], ["ip6tables-nft-save"], ["ip", "-o", "addr", "show"]] as const
    ) {
      const ran = await quick.run(command, args);
      assert.notEqual(ran.code, 0);
      assert.match(ran.stderr, /mcni-there-is-none/);
    }
    const restored = await quick.run("iptables-nft-restore", ["--noflush"], "*nat\nCOMMIT\n");
    assert.notEqual(restored.code, 0);
    await quick.end();
    const redirector = systemRedirector({ scopedLock: true, factsFile: undefined });
    await assert.rejects(redirector.look(networkNamespace), (error: Error) => {
      assert(!(error instanceof CniError));
      return /mcni-there-is-none/.test(error.message);
    });
    await redirector.end();
  },
);

namespaceTest("many commands in one shell: each gets its own answer, in both lanes, with its own input", async () => {
  await using node = await TestNode.make();
  const quick = quickRun({ networkNamespace: `/run/netns/${node.name}` }, unknown);
  const chain = (i: number) => `*nat\n:MCNI_${i} - [0:0]\nCOMMIT\n`;
  const tools = ["iptables-nft", "ip6tables-nft"];
  const numbers = Array.from({ length: 20 }, (_, i) => i);
  const ran = await Promise.all(
    numbers.flatMap((i) => tools.map((tool) => quick.run(`${tool}-restore`, ["--noflush"], chain(i)))),
  );
  assert(ran.every(({ code }) => code === 0));
  for (const tool of tools) {
    const { stdout } = await quick.run(`${tool}-save`, []);
    assert.deepEqual(
      [...stdout.matchAll(/^:MCNI_(\d+) /gm)].map(([, n]) => Number(n)).toSorted((a, b) => a - b),
      numbers,
    );
  }
  const refused = await quick.run("iptables-nft-restore", ["--noflush"], "*nat\n-A NOWHERE -j ACCEPT\nCOMMIT\n");
  assert.notEqual(refused.code, 0);
  assert.notEqual(refused.stderr, "");
  await quick.end();
});
