/**
 * Findings as SARIF 2.1.0 (OASIS), the format of code-review tools.
 *
 * @module
 */
import { fieldCode, FINDING_ROWS, titleOf } from "../../finding/codes.ts";
import { type Finding, findingKeys, type Severity } from "../../finding/finding.ts";
import { type SourceExcerpt } from "../../finding/excerpt.ts";
import { findingFingerprint } from "./known.ts";

/** A finding and its line. */
export interface LocatedFinding {
  readonly found: Finding;
  readonly excerpt: SourceExcerpt | undefined;
}

const LEVELS: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "note" };

/**
 * A log with a single run.
 *
 * @param version The program's version.
 */
export function sarifLog(findings: readonly LocatedFinding[], version: string): Record<string, unknown> {
  const names = [...new Set(findings.map(({ found }) => found.name))].sort();
  const rules = names.map((name) => {
    const { meaning, effect, fix, code } = FINDING_ROWS[name];
    const isAdvice = findings.every(({ found }) => found.name !== name || found.severity !== "error");
    const also = fieldCode(code);
    return {
      id: `${code}/${name}`,
      name: name.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(""),
      shortDescription: { text: titleOf(name, !isAdvice) },
      fullDescription: { text: meaning },
      help: { text: `${effect} ${fix}` },
      ...(also === undefined ? {} : { properties: { tags: [also] } }),
    };
  });
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: { driver: { name: "pilot-discovery check", semanticVersion: version, rules } },
      columnKind: "unicodeCodePoints",
      results: findings.map(({ found, excerpt }) => ({
        ruleId: rules[names.indexOf(found.name)]!.id,
        ruleIndex: names.indexOf(found.name),
        level: LEVELS[found.severity],
        message: { text: `${found.message}. ${found.effect}`.trim() },
        locations: [locationOf(found, excerpt)],
        partialFingerprints: { "meshFinding/v1": findingFingerprint(found) },
      })),
    }],
  };
}

function locationOf(found: Finding, excerpt: SourceExcerpt | undefined): Record<string, unknown> {
  const { origin, line } = found.place;
  const logicalLocations = findingKeys(found).map((fullyQualifiedName) => ({ fullyQualifiedName, kind: "object" }));
  if (origin?.from !== "file") return { logicalLocations };
  const end = excerpt && { startColumn: excerpt.column, endColumn: excerpt.column + excerpt.length };
  return {
    physicalLocation: {
      artifactLocation: { uri: uriOf(origin.file) },
      ...(line > 0 ? { region: { startLine: line, ...end } } : {}),
    },
    ...(logicalLocations.length > 0 ? { logicalLocations } : {}),
  };
}

/** A relative path as a URI reference; an absolute path as a file URI. */
function uriOf(file: string): string {
  const path = file.split("/").map(encodeURIComponent).join("/");
  return file.startsWith("/") ? `file://${path}` : path;
}
