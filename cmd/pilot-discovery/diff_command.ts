/**
 * The command `diff`: the effect of a change of configuration on proxies, before the change is applied.
 *
 * Permissions: read of the named paths, env (the program's variables), net (the address of a server).
 *
 * @module
 */
import { type Invocation, type Output, UsageError } from "../../lib/cli/command.ts";
import { progressOn } from "../../lib/cli/terminal/progress.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { paced } from "../../lib/kernel/time/paced.ts";
import { NoSuchProxy } from "../../lib/offline/find_proxy.ts";
import { compareVersions } from "../../lib/offline/diff/compare.ts";
import { useMeshConfigOf } from "../../lib/offline/mesh_of_reads.ts";
import { type BlastRadius, isSame } from "../../lib/offline/diff/diff.ts";
import { askServer, serverUrl } from "./ask_server.ts";
import { blastRadiusText } from "./diff_text.ts";
import { emptyMesh, givenMeshConfig, readTexts, takeTexts } from "./offline.ts";
import type { diffFlags } from "./offline_flags.ts";

type DiffFlags = Invocation<typeof diffFlags>["flags"];

/** Prints the effect of the change; resolves with 0 when there is none, 1 otherwise. */
export async function runDiff({ flags, args, output }: Invocation<typeof diffFlags>): Promise<number> {
  const [from = "", to = ""] = args;
  if (from === "-" && to === "-") throw new UsageError("diff: got - twice, expected standard input once at most");
  const [oldServer, newServer] = [serverUrl(from), serverUrl(to)];
  if (oldServer && newServer) throw new UsageError("diff: got two servers, expected files on one side");
  const radius = oldServer || newServer
    ? await atServer(oldServer ?? newServer!, oldServer ? to : from, newServer !== undefined, flags, output)
    : await inFiles(from, to, flags, output);
  if (flags.output === "json") output.out(`${JSON.stringify({ same: isSame(radius), ...radius }, undefined, 2)}\n`);
  else output.out(blastRadiusText(radius, output.terminals?.out ?? NO_TERMINAL));
  return isSame(radius) ? 0 : 1;
}

async function inFiles(from: string, to: string, flags: DiffFlags, output: Output): Promise<BlastRadius> {
  const old = await readTexts([from], output, { relative: true });
  const now = await readTexts([to], output, { relative: true });
  const given = await givenMeshConfig(flags);
  const mesh = emptyMesh(old.reads, given, flags, { vhds: true });
  await takeTexts(mesh, old.reads, output);
  const there = new Set(now.reads.map(({ path }) => path));
  const gone = old.reads.filter(({ path }) => !there.has(path)).map(({ path }) => ({ path, bytes: undefined }));
  const progress = progressOn(output);
  try {
    return await paced(compareVersions(mesh, () => mesh.index.applySteps([...now.reads, ...gone]), {
      nodes: flags.node,
      textOf: { old: old.textOf, now: now.textOf },
      meshConfig: () => useMeshConfigOf(mesh, now.reads, given),
      progress: (text) => progress.show(text),
    }));
  } catch (error) {
    if (error instanceof NoSuchProxy) throw new UsageError(`flag --node: ${error.message}`);
    throw error;
  } finally {
    progress.end();
  }
}

/**
 * The server compares by the server's own proxies. Nothing is applied.
 * @param reversed The files are the old version.
 */
async function atServer(
  server: URL,
  path: string,
  reversed: boolean,
  flags: DiffFlags,
  output: Output,
): Promise<BlastRadius> {
  const { reads } = await readTexts([path], output, { relative: true });
  const decoder = new TextDecoder();
  const texts = reads.flatMap(({ path, bytes }) => bytes instanceof Uint8Array ? [[path, decoder.decode(bytes)]] : []);
  const body = JSON.stringify({ files: Object.fromEntries(texts), reversed, nodes: flags.node });
  return await askServer("POST", new URL("/debug/preview", server), { body, field: "proxies" }) as BlastRadius;
}
