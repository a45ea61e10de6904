/**
 * Makes the programs, the runtime and Envoy commands for a terminal, in every folder: prints the folder of their
 * launchers, which belongs on the PATH.
 *
 *     export PATH="$(deno task -q path):$PATH"
 *
 * Permissions: read (this tree), write (`.cache/path`), env (ENVOY), run (deno).
 *
 * @module
 */
import { compiledPrograms } from "./compile.ts";
import { envoyBinary } from "./envoy.ts";
import { programElsewhere } from "./program_elsewhere.ts";

const root = new URL("..", import.meta.url).pathname;
const folder = `${root}.cache/path`;

/** Does the needed part of the set-up. Its lines go to standard error, because a shell takes the output as a path. */
async function setUp(): Promise<boolean> {
  const { stdout, status } = new Deno.Command("deno", {
    args: ["task", "-q", "setup-folder"],
    cwd: root,
    stdout: "piped",
  })
    .spawn();
  await stdout.pipeTo(Deno.stderr.writable, { preventClose: true });
  return (await status).success;
}

/** A word of a shell's command. */
const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** Writes a launcher in one step: a terminal may start the old launcher at the same moment. */
async function launcher(name: string, words: readonly string[]): Promise<void> {
  const temporary = `${folder}/.${name}.${crypto.randomUUID()}`;
  await Deno.writeTextFile(temporary, `#!/bin/sh\nexec ${words.map(quoted).join(" ")} "$@"\n`, { mode: 0o755 });
  await Deno.rename(temporary, `${folder}/${name}`);
}

if (!await setUp()) Deno.exit(1);
await Deno.mkdir(folder, { recursive: true });
for (const program of compiledPrograms) await launcher(program, [Deno.execPath(), ...programElsewhere(program)]);
await launcher("deno", [Deno.execPath()]);
await launcher("envoy", [envoyBinary()]);
console.log(folder);
