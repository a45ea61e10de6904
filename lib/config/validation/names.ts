/**
 * Names: DNS labels, host names, ports' names, label keys and values.
 *
 * Each `...Problem` function returns the expectation for a wrong text, and undefined for a right text. The rules are
 * Istio's: labels of at most 63 characters, names of at most 255.
 *
 * @module
 */
import type { StringMap } from "../schema/json.ts";
import type { Findings } from "../../finding/findings.ts";
import { joinPath } from "../schema/field.ts";

/** Longest DNS label. */
const MAX_LABEL = 63;
const DNS_LABEL = /^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$/;
const WILDCARD_LABEL = /^(?:\*|(?:\*|\*-)?[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)$/;
const LABEL_KEY = /^(?:([a-zA-Z0-9](?:[-a-zA-Z0-9.]*[a-zA-Z0-9])?)\/)?((?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;
const LABEL_VALUE = /^(?:(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const OBJECT_NAME = /^[a-zA-Z0-9](?:[-a-zA-Z0-9.]*[a-zA-Z0-9])?$/;

/** Nearly every written host: labels of allowed characters; the last label begins with a letter. */
const USUAL_HOST = /^(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?\.)+[a-zA-Z](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$/;

/** Whether the text is a DNS label: letters, digits and inner hyphens, at most 63. */
export function isDnsLabel(text: string): boolean {
  return text.length <= MAX_LABEL && DNS_LABEL.test(text);
}

/** Name of an object: a DNS name of at most 253 characters. Files may have capitals, which an orchestrator refuses. */
export function objectNameProblem(name: string): string | undefined {
  return name.length <= 253 && OBJECT_NAME.test(name) ? undefined : "letters, digits, - and ., at most 253";
}

/** A fully or partly qualified host name without wildcard. */
export function hostProblem(host: string): string | undefined {
  return lengthProblem(host) ?? labelsProblem(host);
}

/** A host name whose first label may be, or start with, `*`. */
export function wildcardHostProblem(host: string): string | undefined {
  const wrongLength = lengthProblem(host);
  if (wrongLength !== undefined) return wrongLength;
  if (host.length <= MAX_LABEL && USUAL_HOST.test(host)) return undefined;
  const dot = host.indexOf(".");
  const first = dot < 0 ? host : host.slice(0, dot);
  if (first.length > MAX_LABEL || !WILDCARD_LABEL.test(first)) {
    return "a host name (letters, digits, - and .), optionally starting with *.";
  }
  return dot < 0 ? undefined : labelsProblem(host.slice(dot + 1));
}

/** A wildcard that is not a whole first label (`*foo.com`). */
export function isPartialWildcard(host: string): boolean {
  return host.includes("*") && host !== "*" && !host.startsWith("*.");
}

function lengthProblem(host: string): string | undefined {
  if (host.length === 0) return "a host name";
  return host.length > 255 ? "a host name of at most 255 characters" : undefined;
}

function labelsProblem(host: string): string | undefined {
  const parts = host.split(".");
  if (/^[+-]?\d+$/.test(parts.at(-1) ?? "")) return "a host name whose last label is not a number";
  for (const [index, part] of parts.entries()) {
    // A trailing dot marks an unambiguous name: `example.com.`.
    if (index === parts.length - 1 && part === "") return undefined;
    if (!isDnsLabel(part)) return "a host name (labels of letters, digits and -, at most 63 each)";
  }
  return undefined;
}

/** Whether two host names, either possibly with a leading wildcard, can mean the same host. */
export function hostsOverlap(a: string, b: string): boolean {
  const wildA = a.startsWith("*");
  const wildB = b.startsWith("*");
  if (wildA && wildB) return a.length < b.length ? b.slice(1).endsWith(a.slice(1)) : a.slice(1).endsWith(b.slice(1));
  if (wildA) return b.endsWith(a.slice(1));
  return wildB ? a.endsWith(b.slice(1)) : a === b;
}

/** Whether `outer` means every host that `inner` means. */
export function isHostWithin(inner: string, outer: string): boolean {
  if (inner.startsWith("*")) return outer.startsWith("*") && inner.slice(1).endsWith(outer.slice(1));
  return outer.startsWith("*") ? inner.endsWith(outer.slice(1)) : inner === outer;
}

/** Checks labels as the orchestrator does. */
export function checkLabels(labels: StringMap | undefined, at: string, report: Findings): void {
  for (const key in labels) {
    const match = LABEL_KEY.exec(key);
    if (match === null || (match[1]?.length ?? 0) > 253 || (match[2]?.length ?? 0) > 63) {
      report.error(joinPath(at, key), key, "a label key ([domain/]name of letters, digits, -, _ and ., at most 63)");
    }
    const value = labels[key] ?? "";
    if (!LABEL_VALUE.test(value)) {
      report.error(
        joinPath(at, key),
        value,
        "a label value (letters, digits, -, _ and ., letter or digit at both ends)",
      );
    }
  }
}
