/**
 * A network namespace to try things in, gone when the work is done.
 *
 * Permissions: run (nsenter).
 *
 * @module
 */

/** Longest life of the namespace, seconds, should this process die meanwhile. */
const LIFE = 60;

/** Does work in a new network namespace that has an address of its own. */
export async function inScratch<T>(work: (netns: string) => Promise<T>): Promise<T> {
  const script = `ip link set lo up && ip addr add 192.0.2.1/32 dev lo && echo ready && exec sleep ${LIFE}`;
  const child = new Deno.Command("nsenter", {
    args: ["--net=/proc/self/ns/net", "--", "unshare", "--net", "sh", "-c", script],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  try {
    const { value } = await reader.read();
    if (value === undefined) {
      const said = await new Response(child.stderr).text();
      throw new Error(`no network namespace could be made: ${said.trim()}`);
    }
    return await work(`/proc/${child.pid}/ns/net`);
  } finally {
    await reader.cancel();
    await end(child);
  }
}

async function end(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch {
    // The process has ended by itself.
  }
  if (!child.stderr.locked) await child.stderr.cancel();
  await child.status;
}
