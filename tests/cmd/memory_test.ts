import assert from "node:assert/strict";
import { engineFlags } from "../../scripts/program_args.ts";

Deno.test("the engine of pilot-discovery gives memory back when it is asked to", async () => {
  const module = new URL("../../lib/kernel/program/memory.ts", import.meta.url).href;
  const script = `
    import { giveMemoryBack } from ${JSON.stringify(module)};
    const known = new WeakRef({});
    await new Promise((resolve) => setTimeout(resolve));
    giveMemoryBack(100 * 1024 * 1024);
    console.log(known.deref() === undefined);`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", ...engineFlags("pilot-discovery"), script],
    stderr: "inherit",
  }).output();
  assert.equal(new TextDecoder().decode(stdout).trim(), "true");
});
