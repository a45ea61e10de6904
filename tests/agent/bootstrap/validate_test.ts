import assert from "node:assert/strict";
import { inputNames } from "../../golden.ts";
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
        // Envoy has no other place for the tracer of listeners that name none.
        const known = /Using deprecated option 'envoy\.config\.bootstrap\.v3\.Bootstrap\.tracing'/;
        const lines = output.split("\n").filter((line) => !known.test(line));
        assert.doesNotMatch(lines.join("\n"), /deprecated|unknown|bug/i);
      } finally {
        await Deno.remove(temporary, { recursive: true });
      }
    },
  });
}
