/**
 * Chooses one of the kernel's two back ends, and so the tools, for a family's rules: by trials, with the evidence.
 *
 * Permissions: the permissions of the given {@link Run}.
 *
 * @module
 */
import { differences } from "./change.ts";
import { type Feature, type FeatureKind, featuresOf, modulesOf, trialText } from "./features.ts";
import { type Family, tableNames, TRIAL_CHAIN } from "./model/names.ts";
import { ApplyError } from "./outcome.ts";
import type { Ruleset } from "./model/rule.ts";
import { failureOf, NOT_FOUND, type Run } from "./run.ts";
import { foreignCount, hasOwnPart, type Listing, parseListing, unlistedTables } from "./state.ts";

/** The tools of a back end for a family. */
export interface Backend {
  readonly name: string;
  readonly kind: FeatureKind;
  readonly version: string;
  readonly family: Family;
  /** The back end's list at the time of the look. */
  readonly listing: Listing;
  /** Existing tables that the back end cannot list. */
  readonly unlisted: readonly string[];
}

/** The result of the search. */
export interface Found {
  /** The back end that accepts the rules. Undefined: no back end accepts the rules. */
  readonly chosen: Backend | undefined;
  /** Other back ends with rules of ours, left from a time when another back end was in use. */
  readonly stale: readonly Backend[];
  /** Tables in which rules of ours could not be seen, a line each. */
  readonly unseen: readonly string[];
  /** The evidence: each check with the tool's answer, a line each. */
  readonly evidence: readonly string[];
}

/** Seconds that a tool waits for another tool's lock. */
const LOCK_WAIT = 30;

/** Names of the tools, the specific names first: the plain name stands for either of the two others. */
const toolNames = ["iptables-nft", "iptables-legacy", "iptables"] as const;

/** Name of a tool for a family. */
function forFamily(name: string, family: Family): string {
  return family === 4 ? name : name.replace(/^iptables/, "ip6tables");
}

/**
 * Looks at every back end of a family, and tries the candidates until a back end supports the rules.
 *
 * A back end with rules of ours comes first, so that a second run finds the result of the first. The legacy back end
 * follows if other programs have rules there, because the two back ends do not see each other. Then come nft and
 * legacy.
 */
export async function findBackend(wanted: Ruleset, run: Run): Promise<Found> {
  const evidence: string[] = [];
  const present: Backend[] = [];
  const add = (seen: Backend | string) => {
    if (typeof seen === "string") evidence.push(seen);
    else {
      present.push(seen);
      evidence.push(describe(seen));
    }
  };
  const [nft, legacy, plain] = toolNames;
  for (const seen of await Promise.all([nft, legacy].map((name) => look(name, wanted.family, run)))) add(seen);
  if (present.length === 0) add(await look(plain, wanted.family, run));
  const rank = (backend: Backend) => {
    if (hasOwnPart(backend.listing)) return 0;
    if (backend.kind === "legacy") return foreignCount(backend.listing) > 0 ? 1 : 3;
    return 2;
  };
  const stale = present.filter((backend) => hasOwnPart(backend.listing));
  const blind = present.filter((backend) => unseenIn(backend, wanted).length > 0);
  const unseen = blind.map((backend) => unseenText(backend, unseenIn(backend, wanted)));
  evidence.push(...unseen);
  for (const backend of present.toSorted((a, b) => rank(a) - rank(b))) {
    if (blind.includes(backend)) continue;
    const inPlace = wanted.tables.size > 0 && differences(backend.listing, wanted).length === 0;
    if (inPlace) evidence.push(`${backend.name}: chosen, it has the rules`);
    if (inPlace || await tryOut(backend, wanted, run, evidence)) {
      return { chosen: backend, stale: stale.filter((other) => other !== backend), unseen, evidence };
    }
  }
  return { chosen: undefined, stale, unseen, evidence };
}

/** Tables that cannot be listed, although the rules need them or clean-up must see them. */
function unseenIn({ unlisted }: Backend, { tables }: Ruleset): string[] {
  return unlisted.filter((table) => tables.size > 0 ? tables.has(table) : tableNames.some((name) => name === table));
}

function unseenText({ name }: Backend, tables: readonly string[]): string {
  return `${name}: table ${
    tables.join(", ")
  } has parts that only the tool nft can list, so rules of ours in it could ` +
    "not be seen; give those parts a table of another name";
}

/** A back end, or the reason why the tools cannot be used. */
async function look(tool: string, family: Family, run: Run): Promise<Backend | string> {
  const name = forFamily(tool, family);
  const [version, listed] = await Promise.all([run(name, ["--version"]), run(`${name}-save`, [])]);
  if (version.code !== 0) {
    return `${name}: ${version.code === NOT_FOUND ? "not installed" : firstLine(version.stderr)}`;
  }
  if (listed.code !== 0) return `${name}: cannot list rules: ${firstLine(listed.stderr)}`;
  return {
    name,
    kind: version.stdout.includes("nf_tables") ? "nft" : "legacy",
    version: /v(\d+(?:\.\d+)+)/.exec(version.stdout)?.[1] ?? "unknown",
    family,
    listing: parseListing(listed.stdout),
    unlisted: unlistedTables(listed.stdout),
  };
}

function describe({ name, version, kind, listing }: Backend): string {
  const ours = hasOwnPart(listing) ? "has rules of ours" : "has no rules of ours";
  return `${name}: version ${version}, ${kind}, ${ours}, ${foreignCount(listing)} of others`;
}

async function tryOut(backend: Backend, wanted: Ruleset, run: Run, evidence: string[]): Promise<boolean> {
  const features = featuresOf(wanted);
  if (features.length === 0) return true;
  const together = await restore(backend, trialText(features, trialChain()), run);
  const names = [...new Set(features.map(({ name }) => name))].join(", ");
  if (together === undefined) {
    evidence.push(`${backend.name}: chosen, a trial of ${names} succeeded`);
    return true;
  }
  const missing: string[] = [];
  for (const feature of aboutTheKernel(together) ? features : []) {
    const failure = await restore(backend, trialText([feature], trialChain()), run);
    if (failure !== undefined) missing.push(missingText(feature, backend));
  }
  const tableless = missing.filter((text) => text.includes(": table "));
  evidence.push(...(tableless.length > 0 ? tableless : missing), `${backend.name}: a trial failed: ${together}`);
  return false;
}

/** False if a failure is about rights or the lock of the legacy tools: such a failure says nothing about the kernel. */
function aboutTheKernel(failure: string): boolean {
  return !/xtables lock|lock file|permission denied|not permitted|must be root/i.test(failure);
}

function missingText(feature: Feature, backend: Backend): string {
  const what = feature.name === "table" ? `table ${feature.table}` : `${feature.name} in table ${feature.table}`;
  const modules = modulesOf(feature, backend.kind, backend.family);
  return `${backend.name}: ${what} is not available; load the kernel module ${modules} on the machine`;
}

/** A new name for each trial, so that concurrent runs do not collide. */
function trialChain(): string {
  return `${TRIAL_CHAIN}_${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)}`;
}

/** Lists again. */
export async function relist(backend: Backend, run: Run): Promise<Listing> {
  const listed = await run(`${backend.name}-save`, []);
  if (listed.code !== 0) throw new ApplyError(`${backend.name}-save: ${failureOf(listed)}`);
  return parseListing(listed.stdout);
}

/** Passes a text to the kernel. Resolves with the kernel's refusal, or undefined. */
export async function restore(backend: Backend, text: string, run: Run): Promise<string | undefined> {
  const args = ["--noflush", ...(backend.kind === "legacy" ? [`--wait=${LOCK_WAIT}`] : [])];
  const { code, stderr } = await run(`${backend.name}-restore`, args, text);
  return code === 0 ? undefined : stderr.trim().split("\n").slice(0, 4).join(" ") || `exit code ${code}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
