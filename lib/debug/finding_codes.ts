/**
 * `/debug/finding_codes`: the reference of findings, with the meaning, the effect and the fix of each sort.
 *
 * @module
 */
import { fieldCode, FINDING_NAMES, FINDING_ROWS, type FindingName } from "../finding/codes.ts";
import { withQuery } from "./links.ts";
import type { CellPart, DescribedList } from "./list_page.ts";

/** The page of a code in the reference. */
export function codeUrl(code: string): string {
  return withQuery("/debug/finding_codes", { code });
}

/** The codes of a sort: of errors, and of warnings if theirs differs. */
function codesOf(name: FindingName): readonly string[] {
  const { code, warningCode = code } = FINDING_ROWS[name];
  return [...new Set([code, warningCode])];
}

/** The reference. Several sorts may share a code. */
export const FINDING_CODES: DescribedList<FindingName, void> = {
  title: "Meaning of the codes",
  noun: "code",
  none: "There is no code.",
  beside: [
    { title: "present findings by code", link: "/debug/findings_by_code" },
    { title: "all present findings", link: "/debug/problemz" },
  ],
  rows: () => FINDING_NAMES,
  people: (names) => names.toSorted((a, b) => (FINDING_ROWS[a].code < FINDING_ROWS[b].code ? -1 : 1)),
  json: (names) => names.map((name) => ({ name, ...FINDING_ROWS[name] })),
  look: () => undefined,
  searched: (name) => [name, ...Object.values(FINDING_ROWS[name])].join(" "),
  filters: [{
    name: "code",
    of: (name) => FINDING_ROWS[name].code,
    matches: (name, asked) => codesOf(name).includes(asked),
    forPrograms: "a code, such as MSH0101",
  }],
  columns: [
    { title: "Code", cell: codeCell },
    { title: "Title", cell: (name) => [FINDING_ROWS[name].title, { dim: name }] },
    { title: "Meaning", cell: (name) => FINDING_ROWS[name].meaning },
    { title: "Effect", cell: (name) => FINDING_ROWS[name].effect },
    { title: "Fix", cell: (name) => FINDING_ROWS[name].fix },
  ],
};

function codeCell(name: FindingName): CellPart[] {
  const istio = fieldCode(FINDING_ROWS[name].code);
  const own = codesOf(name).map((code): CellPart => ({ code, link: withQuery("/debug/problemz", { code }) }));
  return istio === undefined ? own : [...own, { code: istio }];
}
