/**
 * The command `check`: all that is wrong with configuration in files, before it is merged.
 *
 * Permissions: read of the named paths, env (the program's variables).
 *
 * @module
 */
import { errorMessage } from "../../lib/kernel/text/error_message.ts";
import { readRegularText } from "../../lib/kernel/files/regular.ts";
import { type Invocation, type Output, UsageError } from "../../lib/cli/command.ts";
import { progressOn } from "../../lib/cli/terminal/progress.ts";
import { safeText, styleOf } from "../../lib/cli/terminal/style.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import type { Finding, Severity } from "../../lib/finding/finding.ts";
import { buildInfo } from "../../lib/kernel/program/build_info.ts";
import { paced } from "../../lib/kernel/time/paced.ts";
import { checkMesh, type CheckResult } from "../../lib/offline/check/check.ts";
import { FileExcerpts } from "../../lib/finding/excerpt.ts";
import { baselineOf, readBaseline, readSuppressions, splitBy, UnreadableKnown } from "../../lib/offline/check/known.ts";
import { sarifLog } from "../../lib/offline/check/sarif.ts";
import { findingText } from "./check_text.ts";
import { count, type ReadMesh, readMesh } from "./offline.ts";
import type { checkFlags } from "./offline_flags.ts";

type CheckFlags = Invocation<typeof checkFlags>["flags"];

/** The findings to report, and counts of the others. */
interface ReportedFindings {
  readonly fresh: readonly Finding[];
  /** Findings in the baseline. */
  readonly known: number;
  /** Findings of the baseline that are gone from the mesh. */
  readonly gone: number;
  readonly suppressed: number;
}

/**
 * Prints the findings. Resolves with 0 when every finding is below `--fail-on`, with 1 when a finding is not, and with
 * 2 when a part failed.
 */
export async function runCheck({ flags, args, output }: Invocation<typeof checkFlags>): Promise<number> {
  const started = performance.now();
  const isSuppressed = readKnown("flag --suppress", () => readSuppressions(flags.suppress));
  const baseline = await readBaselineFile(flags.baseline);
  const read = await readMesh(args.length === 0 ? ["."] : args, flags, output);
  const result = await checked(read, flags, output);
  const loud = result.findings.filter((found) => !isSuppressed(found));
  if (flags["write-baseline"]) {
    output.out(`${JSON.stringify(baselineOf(loud), undefined, 2)}\n`);
    return failures(read, output);
  }
  const { fresh, known, gone } = baseline === undefined ? { fresh: loud, known: [], gone: 0 } : splitBy(baseline, loud);
  const reported: ReportedFindings = {
    fresh,
    known: known.length,
    gone,
    suppressed: result.findings.length - loud.length,
  };
  print(read, result, reported, flags, output, (performance.now() - started) / 1000);
  return failures(read, output) || (fresh.some(({ severity }) => isAsBad(severity, flags["fail-on"])) ? 1 : 0);
}

function readKnown<T>(flag: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof UnreadableKnown) throw new UsageError(`${flag}: ${error.message}`);
    throw error;
  }
}

async function readBaselineFile(file: string) {
  if (file === "") return undefined;
  let text: string;
  try {
    text = await readRegularText(file);
  } catch (error) {
    throw new UsageError(`flag --baseline: ${file}: ${errorMessage(error)}`);
  }
  return readKnown(`flag --baseline: ${file}`, () => readBaseline(text));
}

async function checked({ mesh, texts }: ReadMesh, flags: CheckFlags, output: Output): Promise<CheckResult> {
  const progress = progressOn(output);
  try {
    return await paced(checkMesh(mesh, {
      assumeServices: flags["assume-services"],
      whole: flags.whole,
      textOf: (file) => texts.textOf(file),
      progress: (text) => progress.show(text),
    }));
  } finally {
    progress.end();
  }
}

const RANKS: Readonly<Record<Severity, number>> = { info: 0, warning: 1, error: 2 };

function isAsBad(severity: Severity, threshold: string): boolean {
  return RANKS[severity] >= RANKS[threshold as Severity];
}

/** Names the objects that could not be analyzed. Such a failure is a defect of this program. */
function failures({ mesh }: ReadMesh, output: Output): 0 | 2 {
  for (const { what, error } of mesh.failures) {
    output.err(`Error: ${what}: ${error instanceof Error ? error.stack ?? error.message : String(error)}\n`);
  }
  return mesh.failures.length > 0 ? 2 : 0;
}

function print(
  { mesh, texts }: ReadMesh,
  result: CheckResult,
  reported: ReportedFindings,
  flags: CheckFlags,
  output: Output,
  seconds: number,
): void {
  const terminal = output.terminals?.out ?? NO_TERMINAL;
  const excerpts = new FileExcerpts((file) => texts.textOf(file));
  const excerpt = (found: Finding) => excerpts.of(found);
  const counts = {
    error: countOf(reported.fresh, "error"),
    warning: countOf(reported.fresh, "warning"),
    info: countOf(reported.fresh, "info"),
  };
  switch (flags.output) {
    case "sarif": {
      const located = reported.fresh.map((found) => ({ found, excerpt: excerpt(found) }));
      return output.out(`${JSON.stringify(sarifLog(located, buildInfo().version), undefined, 2)}\n`);
    }
    case "json": {
      const { objects, manifests, passedOver, passedOverKinds, proxies } = result;
      const { known, gone, suppressed } = reported;
      const read = { objects, manifests, passedOver, passedOverKinds, proxies };
      const summary = {
        ...read,
        meshConfig: mesh.meshConfigName ?? null,
        ...counts,
        baseline: { known, gone },
        suppressed,
        seconds,
      };
      const findings = reported.fresh.map((found) => ({ ...found, excerpt: excerpt(found) }));
      return output.out(`${JSON.stringify({ findings, summary }, undefined, 2)}\n`);
    }
    default: {
      const originOf = ({ kind, namespace, name }: { kind: string; namespace: string; name: string }) =>
        mesh.objects.get(`${kind}/${namespace}/${name}`)?.origin;
      for (const found of reported.fresh) {
        output.out(`${findingText(found, { excerpt: excerpt(found), originOf }, terminal)}\n`);
      }
      const style = styleOf(terminal);
      const one = (severity: Severity, word: string) => counts[severity] === 0 ? word : style(severity, word);
      const parts = [
        count(result.objects, "object"),
        ...result.manifests > 0 ? [count(result.manifests, "manifest")] : [],
        one("error", count(counts.error, "error")),
        one("warning", count(counts.warning, "warning")),
        ...counts.info > 0 ? [`${counts.info} to know`] : [],
        ...reported.known > 0 ? [`${reported.known} in the baseline`] : [],
        ...reported.gone > 0 ? [`${reported.gone} of the baseline gone`] : [],
        ...reported.suppressed > 0 ? [`${reported.suppressed} suppressed`] : [],
        ...result.passedOver > 0 ? [passedOverText(result)] : [],
        ...mesh.meshConfigName === undefined ? [] : [safeText(`mesh configuration of ${mesh.meshConfigName}`)],
        `${seconds.toFixed(1)} s`,
      ];
      output.out(`${parts.join(", ")}\n`);
    }
  }
}

/** Most kinds in the text's last line; JSON has all. */
const KINDS_NAMED = 8;

/** `passed over 3 objects of other kinds (2 IstioOperator, 1 HTTPRoute)`. */
function passedOverText({ passedOver, passedOverKinds }: CheckResult): string {
  const kinds = Object.entries(passedOverKinds).map(([kind, number]) => `${number} ${kind}`);
  const more = kinds.length > KINDS_NAMED ? [`${kinds.length - KINDS_NAMED} more kinds`] : [];
  const named = [...kinds.slice(0, KINDS_NAMED), ...more].join(", ");
  return safeText(`passed over ${count(passedOver, "object")} of other kinds (${named})`);
}

function countOf(findings: readonly Finding[], severity: Severity): number {
  return findings.filter((found) => found.severity === severity).length;
}
