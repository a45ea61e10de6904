import assert from "node:assert/strict";

for (const mode of ["socket", "transport"]) {
  Deno.test(`closed connections leave nothing behind: less than 400 bytes of heap for each (${mode})`, async () => {
    // In a separate process with collection of garbage on demand.
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--quiet", "--no-prompt", "--v8-flags=--expose-gc", "--allow-net=127.0.0.1"],
        ...[new URL("support/churn.ts", import.meta.url).pathname, mode],
      ],
      stdout: "piped",
      stderr: "inherit",
    }).output();
    assert.ok(success);
    const bytes = Number(new TextDecoder().decode(stdout));
    assert.ok(bytes < 400, `${bytes} bytes of heap for each connection`);
  });
}
