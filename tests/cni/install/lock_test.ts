/** Installers take turns. An installer that hangs within its turn does not stop the others. */
import assert from "node:assert/strict";
import { whileLocked } from "../../../lib/cni/node/lock.ts";

Deno.test("a lock that another process holds is waited for, up to a deadline", async () => {
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
    assert.throws(() => whileLocked(path, () => assert.fail("two at once"), 200), {
      message: `another installer holds ${path} for more than 200 ms`,
    });
    await reader.cancel();
    await holder.stdin.close();
    await holder.status;
    // Gives the lock back during the wait, while `whileLocked` blocks the test's thread.
    const brief = new Deno.Command("flock", { args: [path, "sh", "-c", "echo held; sleep 0.3"], stdout: "piped" })
      .spawn();
    const held = brief.stdout.getReader();
    await held.read();
    assert.equal(whileLocked(path, () => "after it", 30_000), "after it");
    await held.cancel();
    await brief.status;
    assert.equal(whileLocked(path, () => "mine", 200), "mine");
    assert.throws(() => whileLocked(path, () => assert.fail("as the work fails"), 200), /as the work fails/);
    assert.equal(whileLocked(path, () => "released", 200), "released");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
