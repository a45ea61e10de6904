/**
 * Values of authorization rules as Envoy's matchers. `*` matches any text that is not empty, `*text` a suffix, `text*`
 * a prefix, and any other value exactly itself.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { regexMatcher } from "../values/regex.ts";

type StringMatcher = envoy.type.matcher.v3.StringMatcher;

/** Any text but the empty one: Envoy refuses an empty prefix or suffix. */
export const ANY_TEXT: StringMatcher = { safe_regex: { regex: ".+" } };

/** The matcher of a text with wildcards. */
export function textMatcher(value: string): StringMatcher {
  if (value === "*") return ANY_TEXT;
  if (value.startsWith("*")) return { suffix: value.slice(1) };
  if (value.endsWith("*")) return { prefix: value.slice(0, -1) };
  return { exact: value };
}

const SPIFFE = "spiffe://";

/** The matcher of an identity (`cluster.local/ns/a/sa/b`). In certificates, identities are URIs. */
export function identityMatcher(value: string): StringMatcher {
  const name = value.startsWith(SPIFFE) ? value.slice(SPIFFE.length) : value;
  if (name === "*") return ANY_TEXT;
  if (name.startsWith("*")) return regex(`${SPIFFE}.*${escaped(name.slice(1))}`);
  return textMatcher(SPIFFE + name);
}

/** Identities of a namespace, in every trust domain. A `*` stands for any part of a name. */
export function namespaceMatcher(value: string): StringMatcher {
  const name = value.split("*").map(escaped).join("[^/]*");
  return regex(`${SPIFFE}.+/ns/${name}/.*`);
}

/** Identities of a service account, in every trust domain. */
export function serviceAccountMatcher(value: string, ownNamespace: string): StringMatcher {
  const slash = value.indexOf("/");
  const namespace = slash < 0 ? ownNamespace : value.slice(0, slash);
  const account = value.slice(slash + 1);
  return regex(`${SPIFFE}.+/ns/${escaped(namespace)}/(.+/)?sa/${escaped(account)}(/.+)?`);
}

/**
 * A host, in any case. A value without a port matches a request with any port: the client chooses the port in the text
 * of the host, and neither routes nor workloads distinguish hosts by port.
 */
export function hostMatcher(value: string): StringMatcher {
  const hasPort = /:\d*$/.test(value) && !value.endsWith("]");
  if (hasPort || value === "*" || !value.startsWith("*") && value.endsWith("*")) {
    return { ...textMatcher(value), ...(value === "*" ? {} : { ignore_case: true }) };
  }
  const [before, name] = value.startsWith("*") ? [".*", value.slice(1)] : ["", value];
  return regex(`(?i)${before}${escaped(name)}(:[0-9]*)?`);
}

function regex(text: string): StringMatcher {
  return { safe_regex: regexMatcher(text, instructions(text) < 100) };
}

/**
 * An upper bound on RE2's instructions for the expressions above: one per character, up to 13 for a repetition of any
 * character in UTF-8, and some for letters with more than two cases.
 */
function instructions(text: string): number {
  const repeated = text.match(/[*+]/g)?.length ?? 0;
  const folded = text.startsWith("(?i)") ? text.match(/[ks]/gi)?.length ?? 0 : 0;
  return text.length + 13 * repeated + 5 * folded;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
