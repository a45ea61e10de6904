import assert from "node:assert/strict";

const program = new URL("signal_program.ts", import.meta.url).pathname;

/** Starts the program, and calls back for each printed line. */
async function run(args: string[], onLine: (line: string, child: Deno.ChildProcess) => void) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--allow-env", program, ...args],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines: string[] = [];
  let rest = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      lines.push(line);
      onLine(line, child);
    }
  }
  return { lines, status: await child.status };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`${signal} ends the parts in reverse order, and the program with 0`, async () => {
    const { lines, status } = await run([], (line, child) => line === "ready" && child.kill(signal));
    assert.deepEqual(lines.filter((l) => !l.includes("\t")), ["ready", "server ends", "store ends"]);
    assert.match(lines.join("\n"), /\tinfo\tdefault\tstopping\treason=signal\n[\s\S]*\tstopped\tclean=true$/);
    assert.equal(status.code, 0);
  });
}

Deno.test("a hanging part is abandoned at the deadline, and the exit code shows it", async () => {
  const { lines, status } = await run(["hang", "50"], (line, child) => line === "ready" && child.kill("SIGTERM"));
  assert.match(lines.join("\n"), /a part did not stop cleanly\tpart=server\tresult=late/);
  assert(lines.includes("store ends"));
  assert.equal(status.code, 1);
});

Deno.test("a program whose start hangs ends at the limit of its stop", async () => {
  const args = ["hang at the start", "600000", "50"];
  const { status } = await run(args, (line, child) => line === "ready" && child.kill("SIGTERM"));
  assert.equal(status.code, 1);
});

Deno.test("a second signal ends the program at once", async () => {
  const { status } = await run(["hang", "600000"], (line, child) => {
    if (line === "ready" || line === "server ends") child.kill("SIGTERM");
  });
  assert.equal(status.code, 130);
});
