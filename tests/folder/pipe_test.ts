import assert from "node:assert/strict";

const program = new URL("pipe_program.ts", import.meta.url).pathname;

Deno.test("named pipes in a watched folder are refused by name; what is beside them is read, and watching ends", async () => {
  const root = await Deno.makeTempDir({ prefix: "folder-pipe-" });
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--allow-env",
      "--allow-read",
      `--allow-write=${root}`,
      "--allow-run=mkfifo",
    ]
      .concat(program, root),
  }).output();
  await Deno.remove(root, { recursive: true });
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert.deepEqual(
    text(stdout).replaceAll(root, "ROOT").trim().split("\n"),
    [
      "refused: the file is not readable, expected a regular file (got a named pipe)",
      "live: a,b,c,d; deaf at least once: true",
      'file: {"unreadable":"ROOT/mesh: got a named pipe, expected a regular file"}',
      "stopped",
    ],
    text(stderr),
  );
  assert.equal(code, 0);
});
