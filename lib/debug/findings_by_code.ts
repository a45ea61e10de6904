/**
 * `/debug/findings_by_code`: the present findings by code, the worst first, with the proxies that they concern.
 *
 * @module
 */
import { KINDS } from "../config/kinds/kinds.ts";
import { titleOf } from "../finding/codes.ts";
import { type Finding, findingKeys, findingKind, type Severity } from "../finding/finding.ts";
import { proxiesByGroup } from "./concern.ts";
import { codeUrl } from "./finding_codes.ts";
import { findingsOf, SEVERITIES, TONES } from "./findings.ts";
import { objectUrl, withQuery } from "./links.ts";
import type { CellPart, DescribedList } from "./list_page.ts";
import type { DebugView } from "./view.ts";
import { settledFindings } from "./within.ts";

/** An object of findings. */
export interface FoundObject {
  readonly key: string;
  /** The key with the kind in its author's spelling, as far as a finding knows the spelling. */
  readonly name: string;
}

/** The findings of a code and a severity. */
export interface CodeGroup {
  readonly code: string;
  readonly severity: Severity;
  /** The titles of the sorts among the findings. */
  readonly titles: readonly string[];
  readonly count: number;
  /** The objects, by their keys. */
  readonly objects: readonly FoundObject[];
  /**
   * Connected proxies with something made from the objects. Undefined: no finding is about an object of configuration,
   * so the proxies are not known.
   */
  readonly proxies: number | undefined;
}

/** The present findings by code and severity: the worst first, then those that concern most proxies. */
export function findingsByCode(view: DebugView): CodeGroup[] {
  const groups = Map.groupBy(findingsOf(view), ({ code, severity }) => `${severity} ${code}`);
  const keysOf = new Map(
    groups.entries().map(([group, found]) => [group, [...new Set(found.flatMap(findingKeys))].sort()]),
  );
  const groupsOf = new Map<string, string[]>();
  for (const [group, keys] of keysOf) {
    for (const key of keys.filter(isConfiguration)) groupsOf.getOrInsertComputed(key, () => []).push(group);
  }
  const proxies = proxiesByGroup(groupsOf, view);
  const all = groups.entries().map(([group, found]) => {
    const keys = keysOf.get(group) ?? [];
    return codeGroup(found, keys, keys.some(isConfiguration) ? proxies.get(group)?.size ?? 0 : undefined);
  });
  return [...all].sort(worstFirst);
}

function kindOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

const CONFIGURATION: ReadonlySet<string> = new Set(KINDS);

function isConfiguration(key: string): boolean {
  return CONFIGURATION.has(kindOf(key));
}

function codeGroup(found: readonly Finding[], keys: readonly string[], proxies: number | undefined): CodeGroup {
  const [{ code, severity }] = found as readonly [Finding];
  const titles = [...new Set(found.map(({ name }) => titleOf(name, severity === "error")))];
  const spelled = new Map(found.map((one) => [findingKeys(one)[0], findingKind(one)]));
  const objects = keys.map((key) => ({
    key,
    name: `${spelled.get(key) ?? kindOf(key)}${key.slice(key.indexOf("/"))}`,
  }));
  return { code, severity, titles, count: found.length, objects, proxies };
}

function worstFirst(a: CodeGroup, b: CodeGroup): number {
  const rank = ({ severity }: CodeGroup) => SEVERITIES.indexOf(severity);
  return rank(a) - rank(b) || (b.proxies ?? 0) - (a.proxies ?? 0) || b.count - a.count || (a.code < b.code ? -1 : 1);
}

/** The most objects named in a row. */
const NAMED_OBJECTS = 5;

/** `/debug/findings_by_code`. */
export const FINDINGS_BY_CODE: DescribedList<CodeGroup, void> = {
  title: "Findings by code",
  noun: "code",
  none: "Nothing is wrong.",
  beside: [
    { title: "all findings", link: "/debug/problemz" },
    { title: "meaning of the codes", link: "/debug/finding_codes" },
  ],
  ready: settledFindings,
  rows: findingsByCode,
  json: (groups) => groups,
  look: () => undefined,
  searched: ({ code, titles, objects }) => [code, ...titles, ...objects.map(({ name }) => name)].join(" "),
  filters: [
    { name: "severity", of: ({ severity }) => severity, options: SEVERITIES, forPrograms: SEVERITIES.join(", ") },
  ],
  columns: [
    { title: "Severity", cell: ({ severity }) => ({ tone: TONES[severity], word: severity }) },
    { title: "Code", cell: ({ code }) => ({ code, link: codeUrl(code), title: "What the code means" }) },
    { title: "What", cell: ({ titles }) => titles },
    { title: "Findings", isNumber: true, cell: (group) => ({ text: String(group.count), link: groupUrl(group) }) },
    { title: "Proxies", isNumber: true, cell: ({ proxies }) => proxies ?? { dim: "not known" } },
    { title: "Objects", cell: namedObjects },
  ],
};

/** The findings of a group. */
export function groupUrl({ code, severity }: CodeGroup): string {
  return withQuery("/debug/problemz", { code, severity });
}

function namedObjects(group: CodeGroup): CellPart[] {
  const links = group.objects.slice(0, NAMED_OBJECTS).map(({ key, name }): CellPart => ({
    text: name,
    link: objectUrl(key),
  }));
  const more = group.objects.length - links.length;
  return more > 0 ? [...links, { text: `and ${more} more`, link: groupUrl(group) }] : links;
}
