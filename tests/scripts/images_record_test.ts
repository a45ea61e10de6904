/** Layers of files that a program leaves behind: it runs on the layers below, alone, and is ended in order. */
import assert from "node:assert/strict";
import { recordRun } from "../../scripts/images/record.ts";
import { attempt, command } from "../../scripts/setup/command.ts";

/** The only program of a small root: it says a text, and writes a file when it gets SIGTERM. */
const PROGRAM = `
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void end(int number) {
  (void)number;
  FILE *file = fopen("/left/code", "w");
  fprintf(file, "pid %d", getpid());
  fclose(file);
  exit(0);
}
int main(void) {
  signal(SIGTERM, end);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
`;

/** Why this cannot run here; undefined: it can. */
const obstacle = await (async () => {
  if (Deno.uid() !== 0) return "not root";
  const tried = await attempt("unshare", ["--mount", "--pid", "--net", "--fork", "true"], "/").catch(() => undefined);
  if (tried?.success !== true) return "no right to make namespaces";
  return (await attempt("gcc", ["--version"], "/").catch(() => undefined)) === undefined ? "missing: gcc" : undefined;
})();

Deno.test({
  name:
    "a run has the layers as its root and is the first process there, ends by SIGTERM, and its files are the layer" +
    (obstacle === undefined ? "" : ` (ignored: ${obstacle})`),
  ignore: obstacle !== undefined,
  async fn() {
    const dir = await Deno.makeTempDir({ prefix: "images-" });
    const small = `${dir}/small`;
    try {
      for (const folder of ["usr/bin", "proc", "dev", "left"]) {
        await Deno.mkdir(`${small}/${folder}`, { recursive: true });
      }
      await Deno.writeTextFile(`${dir}/program.c`, PROGRAM);
      await command("gcc", ["-static", "-o", `${small}/usr/bin/env`, `${dir}/program.c`], "/");
      await command("tar", ["-cf", `${dir}/layer.tar`, "-C", small, "."], "/");
      const record = (until: string, folder = "/left") =>
        recordRun({ run: "program", until, folder }, [`${dir}/layer.tar`], `${dir}/room`, `${dir}/stage`);
      assert.deepEqual(await record("ready"), ["left/code"]);
      assert.equal(await Deno.readTextFile(`${dir}/stage/left/code`), "pid 1");
      assert.equal((await Deno.stat(`${dir}/stage/left/code`)).mode! & 0o777, 0o644);
      await assert.rejects(Deno.stat(`${dir}/room`), Deno.errors.NotFound);
      await assert.rejects(record("ready", "/proc"), /left no file in \/proc:\nready/);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});

Deno.test({
  name: "a program that ends before its text is an error with the output" +
    (obstacle === undefined ? "" : ` (ignored: ${obstacle})`),
  ignore: obstacle !== undefined,
  async fn() {
    const dir = await Deno.makeTempDir({ prefix: "images-" });
    try {
      const run = { run: "program --first", until: "ready", folder: "/left" };
      await assert.rejects(
        recordRun(run, [], `${dir}/room`, `${dir}/stage`),
        /^Error: program --first: ended before "ready":/,
      );
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});
