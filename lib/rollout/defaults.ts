/**
 * The plans of objects without a plan of their own, by kind and namespace: `VirtualService=10%,100%; shop/*=50%,100%`.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { FORKED_KINDS } from "../mesh/options.ts";
import { STAGES_EXPECTED, stagesOf } from "./plan.ts";
import { isStagedKind } from "./stageable.ts";

/** Most entries. */
const MAX_ENTRIES = 1000;

/** Longest text, in characters. */
const MAX_TEXT = 100_000;

/** The shares of an entry as text, by `KIND`, `NAMESPACE/*` or `NAMESPACE/KIND`. */
export type RolloutDefaults = ReadonlyMap<string, string>;

/** Istio's names of kinds. */
const OTHER_NAMES: Readonly<Record<string, string>> = { EnvoyFilter: "ProxyFilter" };

/** @returns the entries, or the faults in words */
export function readDefaults(text: string): { readonly defaults: RolloutDefaults } | { readonly faults: string[] } {
  const entries = text.length > MAX_TEXT ? undefined : text.split(";").map((entry) => entry.trim()).filter(Boolean);
  if (entries === undefined || entries.length > MAX_ENTRIES) {
    return { faults: [`expected at most ${MAX_ENTRIES} entries and ${MAX_TEXT} characters`] };
  }
  const defaults = new Map<string, string>();
  const faults: string[] = [];
  for (const entry of entries) {
    const [name = "", shares, ...rest] = entry.split("=").map((part) => part.trim());
    const key = keyOf(name);
    if (key === undefined || shares === undefined || rest.length > 0) {
      const kinds = FORKED_KINDS.join(", ");
      faults.push(
        `got ${JSON.stringify(entry)}, expected KIND, NAMESPACE/* or NAMESPACE/KIND of ${kinds}, = and shares`,
      );
    } else if (stagesOf(shares, 0) === undefined) {
      faults.push(`got ${JSON.stringify(entry)}, expected ${STAGES_EXPECTED}`);
    } else if (defaults.has(key)) faults.push(`got ${JSON.stringify(name)} twice, expected it once`);
    else defaults.set(key, shares);
  }
  return faults.length > 0 ? { faults } : { defaults };
}

function keyOf(name: string): string | undefined {
  const [first = "", second, ...rest] = name.split("/");
  const kind = second ?? first;
  const own = Object.hasOwn(OTHER_NAMES, kind) ? OTHER_NAMES[kind]! : kind;
  if (rest.length > 0 || (second !== undefined && first === "")) return undefined;
  if (second === "*") return `${first}/*`;
  if (!isStagedKind(own)) return undefined;
  return second === undefined ? own : `${first}/${own}`;
}

/** The shares of an object without a plan of its own. The more specific entry counts. Undefined: there is none. */
export function defaultShares({ kind, meta }: ConfigObject, defaults: RolloutDefaults): string | undefined {
  const { namespace } = meta;
  return defaults.get(`${namespace}/${kind}`) ?? defaults.get(`${namespace}/*`) ?? defaults.get(kind);
}
