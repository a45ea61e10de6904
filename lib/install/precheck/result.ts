/**
 * Results of the check before an installation.
 *
 * @module
 */

/** What is checked, in the order of the report. */
export const PRECHECKS = [
  "orchestrator version",
  "rights",
  "definitions",
  "injection webhooks",
  "proxy ports",
  "service protocols",
  "shared ports",
  "Gateway API",
  "proxies",
  "nodes",
] as const;

/** A result: `ok`, or something to do. */
export interface PrecheckResult {
  readonly check: typeof PRECHECKS[number];
  /** `error`: the installation fails or breaks pods. `warning`: something will be missing. */
  readonly state: "ok" | "warning" | "error";
  /** A sentence. */
  readonly message: string;
  /** What to do; empty: nothing. */
  readonly fix: string;
}

/** A result without anything to do. */
export function fine(check: PrecheckResult["check"], message: string): PrecheckResult {
  return { check, state: "ok", message, fix: "" };
}

/** The most names listed in a sentence. */
const MAX_LISTED = 8;

/** `a, b and 3 more`. */
export function listedNames(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}

/** The first results of many of one check, and a result that counts the rest. */
export function firstResults(results: readonly PrecheckResult[], what: string): PrecheckResult[] {
  const rest = results.slice(MAX_LISTED);
  const [next] = rest;
  if (next === undefined) return [...results];
  return [...results.slice(0, MAX_LISTED), { ...next, message: `${rest.length} more ${what}` }];
}
