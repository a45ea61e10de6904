import assert from "node:assert/strict";
import { placeOn, reserveCore } from "./placement.ts";

Deno.test("a process that is placed on a core runs on no other", async () => {
  const child = new Deno.Command("cat", { stdin: "piped", stdout: "null" }).spawn();
  try {
    await placeOn(0, child.pid);
    const { stdout } = await new Deno.Command("cat", { args: [`/proc/${child.pid}/status`] }).output();
    assert.match(new TextDecoder().decode(stdout), /^Cpus_allowed_list:\t0$/m);
  } finally {
    await child.stdin.close();
    await child.status;
  }
});

Deno.test("a core that the machine does not have is refused", async () => {
  await assert.rejects(placeOn(100_000, Deno.pid), /cannot be placed on core 100000/);
});

Deno.test("where there is one core, none is reserved", async () => {
  assert.equal(await reserveCore(1), undefined);
});
