/** The agent as images have it: a folder of JavaScript with a launcher, and nothing of the tree. */
import assert from "node:assert/strict";
import { bundleProgram, bundleSpec, launcherPath } from "../../scripts/bundle.ts";
import { compileArguments, permissionSets } from "../../scripts/compile.ts";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { envoyPath } from "../envoy/path.ts";
import { startTokenAgent, withTokenServer } from "./support/token_agent.ts";

const root = new URL("../../", import.meta.url).pathname;
/** A bundle needs a bundler, which is fetched when missing. */
const isMade = await bundleProgram(root, "pilot-agent").then(() => true, () => false);

Deno.test({
  name: "a copy of the bundle starts Envoy, gets its certificate and configuration, and answers names of the mesh",
  ignore: envoyPath() === undefined || !isMade,
  fn: () =>
    withPorts(5, async ([names = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      const place = await Deno.makeTempDir();
      try {
        for (const { name } of Deno.readDirSync(`${root}${bundleSpec("pilot-agent").folder}`)) {
          await Deno.copyFile(`${root}${bundleSpec("pilot-agent").folder}/${name}`, `${place}/${name}`);
        }
        await withTokenServer({ issuer, files: {} }, async (server) => {
          await using agent = await startTokenAgent(server, {
            ...{ name: "server", ports, program: [`${place}/pilot-agent`] },
            env: { MESH_META_ENABLE_DNS_SERVER: "true", DNS_PROXY_ADDR: `127.0.0.1:${names}` },
          });
          await agent.says(/certificate valid until/);
          await agent.says(/\tdns\tlistening\t/);
        });
      } finally {
        await Deno.remove(place, { recursive: true });
      }
    }),
});

Deno.test({
  name: "the bundle's launcher gives the flags and permissions that an executable has, and no others",
  ignore: !isMade,
  fn: async () => {
    const launcher = await Deno.readTextFile(`${root}${launcherPath("pilot-agent")}`);
    const flags = (words: readonly string[]) => words.filter((word) => /^--(?:allow|v8-flags|no-prompt)/.test(word));
    const quoted = [...launcher.matchAll(/'([^']*)'/g)].map(([, word]) => word!);
    const compiled = compileArguments("pilot-agent", permissionSets()["pilot-agent"]!);
    assert.deepEqual(flags(quoted).sort(), flags(compiled).sort());
  },
});
