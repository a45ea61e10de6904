/**
 * Rules of several kinds of the Gateway API beyond their schemas.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { checkRegex } from "../../validation/regex.ts";
import type { BackendObjectReference, ParentReference } from "./common.ts";
import type { BackendValidation } from "./policies.ts";

/**
 * Reports every element that equals an earlier element.
 *
 * @param keyOf What must differ; undefined: the element is not compared.
 * @param partOf Path from an element to the differing part. Default: the element itself.
 */
export function checkDistinct<T>(
  list: readonly T[] | undefined,
  at: string,
  { keyOf, partOf = "", expected }: {
    readonly keyOf: (one: T) => string | undefined;
    readonly partOf?: string;
    readonly expected: string;
  },
  report: Findings,
): void {
  const seen = new Set<string>();
  list?.forEach((one, index) => {
    const key = keyOf(one);
    if (key === undefined) return;
    if (seen.has(key)) report.error(`${at}[${index}]${partOf}`, key, expected);
    seen.add(key);
  });
}

/** Reports a text that stands in a list twice. */
export function checkDistinctTexts(list: readonly (string | number)[] | undefined, at: string, report: Findings): void {
  checkDistinct(list, at, { keyOf: String, expected: "an element that the list has once" }, report);
}

/** Reports parents that a route names twice, and parents of which some references name a part and others do not. */
export function checkParents(parents: readonly ParentReference[] | undefined, report: Findings): void {
  const places = new Map<string, { readonly section: boolean; readonly port: boolean }>();
  const seen = new Set<string>();
  parents?.forEach(({ group, kind, namespace = "", name, sectionName, port }, index) => {
    const at = `spec.parentRefs[${index}]`;
    const parent = JSON.stringify([group, kind, namespace, name]);
    const part = JSON.stringify([parent, sectionName, port]);
    const [section, hasPort] = [sectionName !== undefined, port !== undefined];
    const first = places.get(parent);
    if (first === undefined) places.set(parent, { section, port: hasPort });
    else if (seen.has(part)) report.error(at, name, "a parent, or a part of a parent, that no earlier reference names");
    else if (first.section !== section || first.port !== hasPort) {
      const expected = "either all references to this parent with a sectionName (or port), or none";
      report.error(`${at}.${first.section !== section ? "sectionName" : "port"}`, sectionName ?? port, expected);
    }
    seen.add(part);
  });
}

/** Reports a reference to a Service that names no port. */
export function checkBackend({ group, kind, port }: BackendObjectReference, at: string, report: Findings): void {
  if (group === "" && kind === "Service" && port === undefined) {
    report.error(`${at}.port`, undefined, "a port of the Service, 1 to 65535");
  }
}

/** Reports rules with equal names. */
export function checkRuleNames(rules: readonly { readonly name?: string }[] | undefined, report: Findings): void {
  const expected = "a name that no other rule of the route has";
  checkDistinct(rules, "spec.rules", { keyOf: ({ name }) => name, partOf: ".name", expected }, report);
}

/** Most matches in all rules of a route. */
const MOST_MATCHES = 128;

/**
 * Reports a route with more matches than the definitions allow.
 *
 * @param implied Matches of a rule without matches.
 */
export function checkNumberOfMatches(
  rules: readonly { readonly matches?: readonly unknown[] }[] | undefined,
  implied: 0 | 1,
  report: Findings,
): void {
  const count = (rules ?? []).reduce((sum, { matches }) => sum + (matches?.length ?? implied), 0);
  if (count > MOST_MATCHES) {
    report.error("spec.rules", `${count} matches`, `at most ${MOST_MATCHES} matches in all rules together`);
  }
}

/** A condition on a value with a name. */
interface NamedMatch {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

/** Reports conditions on one name, and regular expressions that do not compile. */
export function checkNamedMatches(matches: readonly NamedMatch[] | undefined, at: string, report: Findings): void {
  const expected = "a name that no other condition of the match has";
  checkDistinct(matches, at, { keyOf: ({ name }) => name, partOf: ".name", expected }, report);
  matches?.forEach(({ type, value }, index) => {
    if (type === "RegularExpression") checkRegex(value, `${at}[${index}].value`, report);
  });
}

/** Settings of sessions, of either kind of route. */
interface SessionSettings {
  readonly type: string;
  readonly absoluteTimeout?: number;
  readonly cookieConfig?: { readonly lifetimeType: string };
}

/** Reports settings of cookies that do not fit the session. */
export function checkSession(session: SessionSettings | undefined, at: string, report: Findings): void {
  if (session?.cookieConfig === undefined) return;
  const { type, absoluteTimeout, cookieConfig } = session;
  if (type !== "Cookie") {
    report.error(`${at}.cookieConfig`, cookieConfig, "no settings of a cookie: the type is Header", "exclusive-fields");
  }
  if (cookieConfig.lifetimeType === "Permanent" && absoluteTimeout === undefined) {
    report.error(`${at}.absoluteTimeout`, undefined, "the life of the cookie: its lifetimeType is Permanent");
  }
}

/** Checks how the certificate of a backend is verified. */
export function checkBackendValidation(validation: BackendValidation, at: string, report: Findings): void {
  const { caCertificateRefs: references, wellKnownCACertificates: known, subjectAltNames } = validation;
  if (references !== undefined && known !== undefined) {
    const expected = "either caCertificateRefs or wellKnownCACertificates";
    report.error(`${at}.wellKnownCACertificates`, known, expected, "exclusive-fields");
  }
  if (references === undefined && known === undefined) {
    report.error(`${at}.caCertificateRefs`, undefined, "references, or wellKnownCACertificates");
  }
  subjectAltNames?.forEach(({ type, hostname, uri }, index) => {
    // An unknown type has failed already.
    if (type !== "URI" && type !== "Hostname") return;
    const [wanted, other] = type === "URI" ? ["uri", "hostname"] as const : ["hostname", "uri"] as const;
    const values = { hostname, uri };
    const place = `${at}.subjectAltNames[${index}]`;
    if (values[wanted] === undefined) report.error(`${place}.${wanted}`, undefined, `a name: the type is ${type}`);
    if (values[other] === undefined) return;
    report.error(`${place}.${other}`, values[other], `only ${wanted}: the type is ${type}`, "exclusive-fields");
  });
}
