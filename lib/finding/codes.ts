/**
 * The catalogue of findings: the meaning of each sort, its effect for users, and its fix.
 *
 * A sort has a name for people and a number for programs, suppressions and baselines. A new sort needs a row in the
 * file of its topic. Each sort also needs two examples in `tests/testdata/findings/<name>/`: the first triggers the
 * finding, the second does not.
 *
 * @module
 */
import { ANNOTATION_ROWS } from "./codes/annotations.ts";
import { CONFLICTS } from "./codes/conflicts.ts";
import { FILTERS } from "./codes/filters.ts";
import { GATEWAY_API } from "./codes/gateway_api.ts";
import { MANIFESTS } from "./codes/manifests.ts";
import { POLICIES } from "./codes/policies.ts";
import { READING } from "./codes/reading.ts";
import { REFERENCES } from "./codes/references.ts";
import { ROUTING } from "./codes/routing.ts";
import type { FindingCode, FindingRow } from "./codes/row.ts";
import { SOURCES } from "./codes/sources.ts";
import { TRANSLATION } from "./codes/translation.ts";

export type { FindingCode, FindingRow } from "./codes/row.ts";

/** The files of the catalogue, in the order of the page. */
const TOPICS = {
  ...REFERENCES,
  ...ROUTING,
  ...CONFLICTS,
  ...GATEWAY_API,
  ...POLICIES,
  ...FILTERS,
  ...MANIFESTS,
  ...ANNOTATION_ROWS,
  ...READING,
  ...SOURCES,
  ...TRANSLATION,
} as const;

/** The name of a finding's sort. */
export type FindingName = keyof typeof TOPICS;

/** All sorts. */
export const FINDING_ROWS: Readonly<Record<FindingName, FindingRow>> = TOPICS;

/** The title for findings of a sort: of errors, or of warnings and infos. */
export function titleOf(name: FindingName, isError: boolean): string {
  const { title, warningTitle = title } = FINDING_ROWS[name];
  return isError ? title : warningTitle;
}

/** Every name of a sort. */
export const FINDING_NAMES = Object.keys(TOPICS) as readonly FindingName[];

/** The highest number of Istio's findings. */
const LAST_OF_ISTIO = 177;

/** Istio's code with the same meaning: `IST0101` for `MSH0101`; undefined: Istio has no such code. */
export function fieldCode(code: FindingCode): string | undefined {
  return Number(code.slice(3)) <= LAST_OF_ISTIO ? `IST${code.slice(3)}` : undefined;
}

/**
 * A code in our spelling, from either spelling: `IST0101` and `msh0101` become `MSH0101`; undefined: the text is not a
 * code.
 */
export function readCode(text: string): FindingCode | undefined {
  const digits = /^(?:MSH|IST)(\d{4})$/i.exec(text.trim())?.[1];
  return digits === undefined ? undefined : `MSH${digits}`;
}
