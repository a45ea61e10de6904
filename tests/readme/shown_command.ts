/**
 * Commands on pages, run from a clone.
 * @module
 */
const root = new URL("../..", import.meta.url).pathname;

/** The output of a command of `pilot-discovery`, with 0.4 s for each duration, and its errors. */
export async function shownCommand(command: string): Promise<{ readonly text: string; readonly trouble: string }> {
  const line = command.replace(/(?<=^|\| )pilot-discovery/, "deno task -q pilot-discovery");
  const { stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", line],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replace(/\b\d+\.\d s\b/g, "0.4 s");
  return { text: textOf(stdout), trouble: textOf(stderr) };
}
