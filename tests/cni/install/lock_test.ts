/** Installers take turns; one that was halted within its turn does not halt the others. */
import assert from "node:assert/strict";
import { whileLocked } from "../../../lib/cni/node/lock.ts";

Deno.test("while another process holds the lock it is waited for, but not for ever; then it is had", async () => {
  const dir = await Deno.makeTempDir({ prefix: "mcni-" });
  const path = `${dir}/install.lock`;
  // Holds the lock until its standard input ends.
  const holder = new Deno.Command("flock", {
    args: [path, "sh", "-c", "echo held; read any"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  try {
    const reader = holder.stdout.getReader();
    await reader.read();
    const began = performance.now();
    assert.throws(() => whileLocked(path, () => assert.fail("two at once"), 200), {
      message: `another installer holds ${path} for more than 200 ms`,
    });
    assert(performance.now() - began >= 200);
    await reader.cancel();
    await holder.stdin.close();
    await holder.status;
    assert.equal(whileLocked(path, () => "mine", 200), "mine");
    assert.throws(() => whileLocked(path, () => assert.fail("as the work fails"), 200), /as the work fails/);
    assert.equal(whileLocked(path, () => "given back", 200), "given back");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
