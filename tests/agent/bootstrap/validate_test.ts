import assert from "node:assert/strict";
import { inputNames } from "../../golden.ts";
import { envoyArguments } from "../../../lib/agent/envoy/arguments.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validateBootstrap, validateBy } from "../../envoy/verdict.ts";
import { bootstrapOfCase, folder, readCase } from "./cases.ts";

const envoy = envoyPath();

for (const name of inputNames(new URL("input/", folder))) {
  Deno.test({
    name: `Envoy accepts the bootstrap ${name} as it is, without a field that is unknown or about to go`,
    ignore: envoy === undefined,
    async fn() {
      const { accepted, output } = await validateBootstrap(envoy!, bootstrapOfCase(readCase(name)).config);
      assert(accepted, output);
      // Envoy has no other place for the tracer of listeners without a tracer.
      const known = /Using deprecated option 'envoy\.config\.bootstrap\.v3\.Bootstrap\.tracing'/;
      const lines = output.split("\n").filter((line) => !known.test(line));
      assert.doesNotMatch(lines.join("\n"), /deprecated|unknown|bug/i);
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
      const run = (override: string) => {
        const args = envoyArguments({
          ...{ configFile, override, drainDuration: 45_000, concurrency: 2, logLevel: "warning", logAsJson: true },
          ...{ componentLevels: { upstream: "debug" }, skipDeprecatedLogs: true, coreDump: true, ipv6: false },
        });
        return validateBy(envoy!, args);
      };
      const good = await run("stats_flush_interval: 7s");
      assert(good.accepted, good.output);
      const bad = await run("stats_flush_interval: 9000000s");
      assert(!bad.accepted && /stats_flush_interval/i.test(bad.output), bad.output);
    } finally {
      await Deno.remove(configFile);
    }
  },
});
