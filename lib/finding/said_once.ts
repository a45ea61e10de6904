/**
 * Removes findings that repeat another finding about the same fault. The more exact finding stays.
 *
 * @module
 */
import type { FindingName } from "./codes.ts";
import { type Finding, findingKeys } from "./finding.ts";

/** Names of two findings about one fault. */
interface Pair {
  readonly dropped: FindingName;
  /** The end of the dropped finding's field, after the field that contains both. */
  readonly of: RegExp;
  readonly kept: FindingName;
  readonly by: RegExp;
}

/** Pairs about one server of a Gateway. Either translation or an analyzer reports the fault more exactly. */
const PAIRS: readonly Pair[] = [
  { dropped: "gateway-not-as-written", of: /^\.hosts$/, kept: "gateways-of-one-host", by: /^\.hosts\[\d+\]$/ },
  { dropped: "gateways-of-one-host", of: /^\.hosts\[\d+\]$/, kept: "gateway-not-as-written", by: /^\.port\.protocol$/ },
  {
    dropped: "wrong-value",
    of: /^\.tls\.(?:subjectAltNames|verifyCertificateSpki|verifyCertificateHash)$/,
    kept: "gateway-not-as-written",
    by: /^\.tls\.mode$/,
  },
];

const SERVER = /^spec\.servers\[\d+\]/;

/** Drops findings that another finding reports better. */
export function saidOnce(findings: readonly Finding[]): readonly Finding[] {
  const byServer = new Map<string, Finding[]>();
  for (const finding of findings) {
    const server = serverOf(finding);
    if (server === undefined) continue;
    const list = byServer.get(server.key);
    if (list === undefined) byServer.set(server.key, [finding]);
    else list.push(finding);
  }
  if (byServer.size === 0) return findings;
  return findings.filter((finding) => {
    const server = serverOf(finding);
    if (server === undefined) return true;
    return !byServer.get(server.key)!.some((other) => PAIRS.some((pair) => isSaid(finding, other, pair)));
  });
}

function isSaid(finding: Finding, other: Finding, { dropped, of, kept, by }: Pair): boolean {
  return finding.name === dropped && other.name === kept &&
    of.test(serverOf(finding)!.rest) && by.test(serverOf(other)!.rest);
}

function serverOf(finding: Finding): { readonly key: string; readonly rest: string } | undefined {
  if (!PAIRS.some(({ dropped, kept }) => finding.name === dropped || finding.name === kept)) return undefined;
  const [object] = findingKeys(finding);
  const server = SERVER.exec(finding.place.field)?.[0];
  if (object === undefined || server === undefined) return undefined;
  return { key: `${object} ${server}`, rest: finding.place.field.slice(server.length) };
}
