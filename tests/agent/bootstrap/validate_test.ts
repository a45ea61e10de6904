import assert from "node:assert/strict";
import { inputNames } from "../../golden.ts";
import { envoyArguments } from "../../../lib/agent/envoy/arguments.ts";
import { envoyPath } from "../../translate/envoy.ts";
import { bootstrapOfCase, folder, readCase } from "./cases.ts";

const envoy = envoyPath();

for (const name of inputNames(new URL("input/", folder))) {
  Deno.test({
    name: `Envoy accepts the bootstrap ${name} as it is, without a field that is unknown or about to go`,
    ignore: envoy === undefined,
    async fn() {
      const temporary = await Deno.makeTempDir();
      try {
        const file = `${temporary}/bootstrap.json`;
        await Deno.writeTextFile(file, JSON.stringify(bootstrapOfCase(readCase(name)).config));
        const { success, stderr } = await new Deno.Command(envoy!, {
          args: ["--mode", "validate", "-l", "warning", "-c", file],
          stdout: "null",
          stderr: "piped",
        }).output();
        const output = new TextDecoder().decode(stderr);
        assert(success, output);
        // Envoy has no other place for the tracer of listeners without a tracer.
        const known = /Using deprecated option 'envoy\.config\.bootstrap\.v3\.Bootstrap\.tracing'/;
        const lines = output.split("\n").filter((line) => !known.test(line));
        assert.doesNotMatch(lines.join("\n"), /deprecated|unknown|bug/i);
      } finally {
        await Deno.remove(temporary, { recursive: true });
      }
    },
  });
}

Deno.test({
  name: "Envoy accepts every argument that settings can add, and merges the override",
  ignore: envoy === undefined,
  async fn() {
    const configFile = await Deno.makeTempFile({ suffix: ".json" });
    try {
      await Deno.writeTextFile(configFile, JSON.stringify(bootstrapOfCase(readCase("minimal")).config));
      const run = async (override: string) => {
        const args = envoyArguments({
          ...{ configFile, override, drainDuration: 45_000, concurrency: 2, logLevel: "warning", logAsJson: true },
          ...{ componentLevels: { upstream: "debug" }, skipDeprecatedLogs: true, coreDump: true, ipv6: false },
        });
        const command = new Deno.Command(envoy!, { args: [...args, "--mode", "validate"], stderr: "piped" });
        const { success, stderr } = await command.output();
        return { success, output: new TextDecoder().decode(stderr) };
      };
      const good = await run("stats_flush_interval: 7s");
      assert(good.success, good.output);
      const bad = await run("stats_flush_interval: 9000000s");
      assert(!bad.success && /stats_flush_interval/i.test(bad.output), bad.output);
    } finally {
      await Deno.remove(configFile);
    }
  },
});
