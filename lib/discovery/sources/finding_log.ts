/**
 * Findings in the log: one line for each new finding, and one line for each resolved finding.
 *
 * @module
 */
import { type Finding, findingFile, findingKind, findingObject } from "../../finding/finding.ts";
import type { Kernel } from "../../kernel/kernel.ts";

/** The fields of a log line about a finding, beside the message. */
export function findingFields(finding: Finding): Record<string, unknown> {
  const { code, name: what, value, expected, effect, fix, place: { field, line, column, origin } } = finding;
  const source = origin === undefined || origin.source === "" ? {} : { source: origin.source };
  const object = { ...findingObject(finding), kind: findingKind(finding) };
  return {
    file: findingFile(finding),
    line,
    column,
    ...object,
    field,
    value,
    expected,
    effect,
    fix,
    code,
    what,
    ...source,
  };
}

/** Logs the changes of findings, and counts refused configuration. Each step handles one finding. */
export function* logFindings(
  { appeared, resolved }: { readonly appeared: readonly Finding[]; readonly resolved: readonly Finding[] },
  kernel: Pick<Kernel, "log" | "metrics">,
): Generator<void, void> {
  const log = kernel.log.scope("validation");
  const rejected = kernel.metrics.counter("pilot_total_rejected_configs");
  for (const found of appeared) {
    yield;
    if (found.severity !== "error") log.warn(found.message, findingFields(found));
    else {
      const { kind, namespace, name } = findingObject(found);
      // A text without an object name is counted under its file.
      rejected.inc({ type: kind || "unknown", name: name === "" ? findingFile(found) : `${namespace}/${name}` });
      log.error(`refused: ${found.message}`, findingFields(found));
    }
  }
  for (const found of resolved) {
    yield;
    const { file, line, kind, namespace, name, field } = findingFields(found);
    log.info("a finding is gone", { file, line, kind, namespace, name, field });
  }
}
