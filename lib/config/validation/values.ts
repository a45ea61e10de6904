/**
 * Values with a syntax of their own: durations, percentages, header names and values.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import { substitutionProblem } from "./substitution.ts";

/** Checks a duration: at least 1 ms, whole milliseconds. Absent is right. */
export function checkDuration(milliseconds: number | undefined, at: string, report: Findings): void {
  if (milliseconds === undefined) return;
  if (milliseconds < 1) report.error(at, `${milliseconds}ms`, "a duration of at least 1ms");
  else if (!Number.isInteger(milliseconds)) report.error(at, `${milliseconds}ms`, "a duration in whole milliseconds");
}

/** Checks an integer percentage. Absent is right. */
export function checkPercent(value: number | undefined, at: string, report: Findings): void {
  if (value !== undefined && (value < 0 || value > 100)) report.error(at, value, "a percentage, 0..100");
}

/** Checks that a count is not negative. Absent is right. */
export function checkCount(value: number | undefined, at: string, report: Findings): void {
  if (value !== undefined && value < 0) report.error(at, value, "0 or more");
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~A-Za-z0-9]+$/;
const STRICT_HEADER_NAME = /^[-A-Za-z0-9]+$/;
const JWT_CLAIM = /^@request\.auth\.claims(?:\..+|\[.+\])$/i;
const PSEUDO_HEADERS = new Set([":method", ":scheme", ":authority", ":path", ":status"]);
// deno-lint-ignore no-control-regex -- control characters are what this pattern is about
const HEADER_VALUE = /^[^\u0000-\u0008\u000A-\u001F\u007F]*$/;

/** Whether a header name asks for a claim of the request's token: `@request.auth.claims.group`. */
export function isJwtClaim(name: string): boolean {
  return JWT_CLAIM.test(name);
}

/** Whether a text is a token of RFC 9110, as names of headers are. */
export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}

/** Checks a header name of letters, digits and hyphens only. */
export function checkStrictHeaderName(name: string, at: string, report: Findings): void {
  if (!STRICT_HEADER_NAME.test(name)) report.error(at, name, "a header name (letters, digits and -)");
}

/** Checks a header name to match: a token of RFC 9110, a pseudo header, or a token claim. */
export function checkMatchHeaderName(name: string, at: string, report: Findings): void {
  if (isJwtClaim(name) || PSEUDO_HEADERS.has(name) || HEADER_NAME.test(name)) return;
  report.error(at, name, "a header name");
}

/** Checks a header name in a CORS list: a token, or `*`. */
export function checkCorsHeaderName(name: string, at: string, report: Findings): void {
  if (name !== "*" && !HEADER_NAME.test(name)) report.error(at, name, "a header name or *");
}

/** Whether the header names the authority: `host` or `:authority`. */
export function isAuthorityHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === ":authority" || lower === "host";
}

/** Whether a text has a character (NUL, CR, LF) that is not allowed in an HTTP head. */
export function breaksLines(text: string): boolean {
  return /[\0\r\n]/.test(text);
}

/** Checks a text for an HTTP head, which has no line breaks or NUL. Absent is right. */
export function checkHeadText(text: string | undefined, at: string, report: Findings): void {
  if (text !== undefined && breaksLines(text)) report.error(at, text, "a text without line breaks and NUL");
}

/** Checks a header name to change; `authorityAllowed` for set and add of requests. */
export function checkChangedHeaderName(name: string, authorityAllowed: boolean, at: string, report: Findings): void {
  if (name === "" || breaksLines(name)) report.error(at, name, "a header name");
  else if (isAuthorityHeader(name) ? !authorityAllowed : name.startsWith(":")) {
    report.error(at, name, "a header other than host and those starting with :");
  }
}

/** Checks the value of a changed header: no control characters, and `%` only as `%%` or `%COMMAND%`, `%COMMAND(argument):LENGTH%`. */
export function checkHeaderValue(value: string, at: string, report: Findings): void {
  if (!HEADER_VALUE.test(value)) report.error(at, value, "a header value without control characters");
  else if (!hasBalancedCommands(value)) {
    report.error(at, value, "a header value where % appears as %% or in %COMMAND% pairs");
  } else {
    const problem = substitutionProblem(value, "header");
    if (problem !== undefined) {
      report.warning(at, value, `a value that the proxy can read (${problem}); the header is left out`);
    }
  }
}

type State = "literal" | "name" | "argument" | "item" | "string" | "delimiter" | "close" | "end" | "length";

/** Walks the value as the proxy's parser does; every command must be finished at the end. */
function hasBalancedCommands(value: string): boolean {
  if (!value.includes("%")) return true;
  let state: State | undefined = "literal";
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? "";
    if (state === "literal") {
      if (character !== "%") continue;
      if (value[at + 1] === "%") at += 1;
      else state = "name";
    } else if (state === "string" && character === "\\") at += 1;
    else state = nextState(state, character);
    if (state === undefined) return false;
  }
  return state === "literal";
}

function nextState(state: State, character: string): State | undefined {
  const stay = character === " " ? state : undefined;
  switch (state) {
    case "literal":
      return state;
    case "name":
      return character === "%" ? "literal" : character === "(" ? "argument" : state;
    case "argument":
      return character === "[" ? "item" : stay ?? "string";
    case "item":
      return character === '"' ? "string" : stay;
    case "string":
      return character === ")" ? "end" : character === '"' ? "delimiter" : state;
    case "delimiter":
      return character === "," ? "item" : character === "]" ? "close" : stay;
    case "close":
      return character === ")" ? "end" : stay;
    case "end":
      return character === "%" ? "literal" : character === ":" ? "length" : stay;
    case "length":
      return character === "%" ? "literal" : /\d/.test(character) ? state : undefined;
  }
}
