/**
 * Missing namespaces that rules of AuthorizationPolicies name as callers. Reported only if Namespace objects are known:
 * a folder without Namespace objects proves nothing.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

const FIELDS = ["namespaces", "notNamespaces"] as const;

export const SOURCE_NAMESPACES: Analyzer<"AuthorizationPolicy"> = {
  kind: "AuthorizationPolicy",
  reports: ["unknown-namespace"],
  analyze: ({ spec: { rules = [] } }, read, report) => {
    if (read.settings.assumeServices) return;
    for (const [at, { from = [] }] of rules.entries()) {
      for (const [index, { source = {} }] of from.entries()) {
        for (const field of FIELDS) {
          for (const [place, written] of (source[field] ?? []).entries()) {
            if (read.isListUnknown("namespaces") || isKnown(written.toLowerCase(), read)) continue;
            const closest = nearestName(written, read.namespaceNames());
            report("warning", "unknown-namespace", {
              field: `spec.rules[${at}].from[${index}].source.${field}[${place}]`,
              value: written,
              expected: `a namespace that exists${closest === undefined ? "" : `, such as ${closest}`}`,
              ...field === "notNamespaces" ? { effect: "It excludes nobody." } : {},
            });
          }
        }
      }
    }
  },
};

/** Whether a namespace has the name, or a name covered by the pattern `prefix*` or `*suffix`. */
function isKnown(written: string, read: AnalysisReader): boolean {
  const names = read.namespaceNames();
  if (written.startsWith("*")) return written === "*" || names.some((name) => name.endsWith(written.slice(1)));
  if (written.endsWith("*")) return names.some((name) => name.startsWith(written.slice(0, -1)));
  return written === read.meshConfig.rootNamespace || names.includes(written);
}
