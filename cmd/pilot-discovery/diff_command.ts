/**
 * The command `diff`: what a change of configuration does to proxies, before it is applied.
 *
 * Permissions: read of what is named, env (the program's variables), net (a server that is asked).
 *
 * @module
 */
import type { Invocation } from "../../lib/cli/command.ts";
import { progressOn } from "../../lib/cli/terminal/progress.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { paced } from "../../lib/kernel/time/paced.ts";
import { NoSuchProxy } from "../../lib/offline/find_proxy.ts";
import { compareVersions } from "../../lib/offline/diff/compare.ts";
import { type BlastRadius, isSame } from "../../lib/offline/diff/diff.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { blastRadiusText } from "./diff_text.ts";
import { emptyMesh, readTexts, takeTexts } from "./offline.ts";
import type { diffFlags } from "./offline_flags.ts";

/** Prints what the change does; resolves with 0 when that is nothing, 1 otherwise. */
export async function runDiff({ flags, args, output }: Invocation<typeof diffFlags>): Promise<number> {
  const [from = "", to = ""] = args;
  if (from === "-" && to === "-") throw new UsageError("diff: got - twice, expected standard input once at most");
  const old = await readTexts([from], output, { relative: true });
  const now = await readTexts([to], output, { relative: true });
  const mesh = await emptyMesh(flags, { vhds: true });
  await takeTexts(mesh, old.reads, output);
  const there = new Set(now.reads.map(({ path }) => path));
  const gone = old.reads.filter(({ path }) => !there.has(path)).map(({ path }) => ({ path, bytes: undefined }));
  const progress = progressOn(output);
  let radius: BlastRadius;
  try {
    radius = await paced(compareVersions(mesh, () => mesh.index.applySteps([...now.reads, ...gone]), {
      nodes: flags.node,
      textOf: { old: old.textOf, now: now.textOf },
      progress: (text) => progress.show(text),
    }));
  } catch (error) {
    if (error instanceof NoSuchProxy) throw new UsageError(`flag --node: ${error.message}`);
    throw error;
  } finally {
    progress.end();
  }
  if (flags.output === "json") output.out(`${JSON.stringify({ same: isSame(radius), ...radius }, undefined, 2)}\n`);
  else output.out(blastRadiusText(radius, output.terminals?.out ?? NO_TERMINAL));
  return isSame(radius) ? 0 : 1;
}
