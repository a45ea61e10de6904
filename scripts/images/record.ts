/**
 * Files that a program leaves behind when it runs on the layers of an image: in a folder as its root, in namespaces of
 * its own, without a network.
 *
 * Permissions: read and write (the folder), run (tar, unshare, rm).
 *
 * @module
 */
import { command } from "../setup/command.ts";
import type { Recorded } from "./description.ts";

/** Longest time until the program has said its text, ms. */
const PATIENCE_MS = 120_000;

/** The first process in the namespaces: a loopback interface, the kernel's file systems, then the image's shell. */
const ENTER = `mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && ip link set lo up &&
exec chroot "$1" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \\
  DENO_NO_UPDATE_CHECK=1 /bin/sh -c "cd / && $2"`;

/**
 * Runs a program, and copies the files.
 *
 * @param below The tar files of the layers, from below.
 * @param room Path of the folder for the run, which is removed.
 * @param stage Folder for the copies.
 * @returns The paths of the copies, from the stage.
 * @throws {Error} With the output, when the program ended without its text.
 */
export async function recordRun(
  { run, until, folder }: Recorded,
  below: readonly string[],
  room: string,
  stage: string,
): Promise<string[]> {
  await Deno.mkdir(room, { recursive: true });
  for (const file of below) await command("tar", ["--extract", "--file", file, "--directory", room], "/");
  const output = await runUntil(room, run, until);
  const names = filesBelow(`${room}${folder}`);
  if (names.length === 0) throw new Error(`${run}: left no file in ${folder}:\n${output}`);
  await Deno.mkdir(`${stage}${folder}`, { recursive: true });
  for (const name of names) {
    await Deno.copyFile(`${room}${folder}/${name}`, `${stage}${folder}/${name}`);
    await Deno.chmod(`${stage}${folder}/${name}`, 0o644);
  }
  await command("rm", ["-rf", "--one-file-system", room], "/");
  return names.map((name) => `${folder.slice(1)}/${name}`);
}

/** Runs a line of shell until the text is in the output, then ends the program and waits for its end. */
async function runUntil(room: string, run: string, until: string): Promise<string> {
  const namespaces = ["--mount", "--pid", "--net", "--ipc", "--uts", "--propagation", "private"];
  // The program gets SIGTERM when its parent ends. The parent ends by SIGHUP, and ignores SIGTERM.
  const args = [...namespaces, "--fork", "--kill-child=TERM", "sh", "-c", ENTER, "sh", room, `{ ${run}; } 2>&1`];
  const child = new Deno.Command("unshare", { args, stdin: "null", stdout: "piped", stderr: "inherit" }).spawn();
  const timer = setTimeout(() => child.kill("SIGHUP"), PATIENCE_MS);
  let [text, said] = ["", false];
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (said || !text.includes(until)) continue;
    said = true;
    child.kill("SIGHUP");
  }
  clearTimeout(timer);
  await child.status;
  if (!said) throw new Error(`${run}: ended before ${JSON.stringify(until)}:\n${text.trimEnd()}`);
  return text;
}

/** Names of the files in a folder. Folders in the folder are left out. */
function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => name).sort();
}
