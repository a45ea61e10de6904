/**
 * The lists of findings: mistakes in configuration, and accepted settings that proxies do not get.
 *
 * @module
 */
import { type Finding, findingIdentity, findingKeys, findingKind } from "../finding/finding.ts";
import { describeOrigin } from "../finding/origin.ts";
import { saidOnce } from "../finding/said_once.ts";
import { codeUrl } from "./finding_codes.ts";
import { objectUrl } from "./links.ts";
import { lostInTranslation } from "./lost_effect.ts";
import { allWarnings } from "./pushes.ts";
import type { DebugView } from "./view.ts";
import { settledFindings } from "./within.ts";
import type { DescribedList } from "./list_page.ts";

/** The worst first. */
export const SEVERITIES = ["error", "warning", "info"] as const;

/** The tone of each severity. */
export const TONES = { error: "bad", warning: "warn", info: "dim" } as const;

/**
 * `/debug/problemz`: the present findings of reading configuration, of the analysis of the whole mesh, and of translation
 * where an effect is lost.
 */
export const FINDINGS: DescribedList<Finding, void> = {
  title: "Findings",
  noun: "finding",
  none: "Nothing is wrong.",
  beside: [
    { title: "findings by code", link: "/debug/findings_by_code" },
    { title: "meaning of the codes", link: "/debug/finding_codes" },
  ],
  ready: settledFindings,
  rows: (view) => saidOnce([...view.findings(), ...view.analysis.findings(), ...lostInTranslation(view)]),
  people: (_, view) => findingsOf(view),
  json: (findings) => findings,
  look: () => undefined,
  searched: (one) => [one.code, one.message, ...findingKeys(one), placeText(one)].join(" "),
  filters: [
    { name: "severity", of: ({ severity }) => severity, options: SEVERITIES },
    { name: "code", of: ({ code }) => code },
  ],
  columns: [
    { title: "Severity", cell: ({ severity }) => ({ tone: TONES[severity], word: severity }) },
    { title: "Code", cell: ({ code }) => ({ code, link: codeUrl(code), title: "What the code means" }) },
    {
      title: "Objects",
      cell: (one) =>
        findingKeys(one).map((key, at) => ({
          text: at === 0 ? `${findingKind(one)}${key.slice(key.indexOf("/"))}` : key,
          link: objectUrl(key),
        })),
    },
    { title: "Where", cell: (one) => ({ mono: placeText(one) }) },
    { title: "What, effect, fix", cell: ({ message, effect, fix }) => [message, { dim: `${effect} ${fix}` }] },
  ],
};

/** `/debug/warningz`: accepted settings that proxies do not get, as translation and the analysis found them. */
export const WARNINGS: DescribedList<Finding, void> = { ...FINDINGS, rows: (view) => [...allWarnings(view)] };

/** All findings, each once, the worst first. */
export function findingsOf(view: DebugView): Finding[] {
  const all = [...view.findings(), ...view.analysis.findings(), ...allWarnings(view)];
  const distinct = saidOnce([...new Map(all.map((one) => [findingIdentity(one), one])).values()]);
  return SEVERITIES.flatMap((wanted) => distinct.filter(({ severity }) => severity === wanted));
}

/** File and line of a finding, as far as known. */
function placeText({ place: { origin, line, field } }: Finding): string {
  const at = origin?.from === "file" && line > 0 ? { ...origin, line } : origin;
  return [at === undefined ? "" : describeOrigin(at), field].filter((part) => part !== "").join(" ");
}
