/**
 * Which rollouts run, and why the others wait. Only a few run at the same time, because each set of candidates in use has
 * a fork of the mesh.
 *
 * The namespaces take turns, so that the rollouts of one namespace do not hold up the rollouts of the others:
 *
 *     with proxies ──> the first of each namespace ──> the second of each namespace ──> ... ──> without any proxy
 *
 * @module
 */
import { neededRollouts, SubsetReader, type TwoVersions } from "./needs.ts";

/** Most rollouts at the same time. */
export const MAX_ROLLOUTS = 4;

/** Most rollouts of a namespace at the same time. */
export const MAX_OF_NAMESPACE = 2;

/** A rollout in line. */
export interface RolloutInLine extends TwoVersions {
  readonly isTakenBack: boolean;
  /** Some proxies have the candidate, or had it before a restart. */
  readonly hasProxies: boolean;
  /** The rollout concerned no proxy when it was looked at last. */
  readonly isIdle: boolean;
}

/** The line of rollouts. */
export interface RolloutLine {
  /** Why a rollout waits, by object. A rollout that is not in the map runs, or was taken back. */
  readonly waits: ReadonlyMap<string, string>;
  /** The objects in line, the next one first. Rollouts that were taken back are not in line. */
  readonly order: readonly string[];
}

/** Puts rollouts in line. @param all The oldest first. @param needed The object for whose rollout a rollout waits. */
function lineOf(all: readonly RolloutInLine[], needed: ReadonlyMap<string, string>): RolloutLine {
  const waits = new Map<string, string>();
  const able: RolloutInLine[] = [];
  const unable: string[] = [];
  for (const one of all) {
    const other = needed.get(one.key);
    if (one.isTakenBack) continue;
    if (other === undefined) able.push(one);
    else {
      waits.set(one.key, `it waits for the rollout of ${other}`);
      unable.push(one.key);
    }
  }
  const order = inTurns(able);
  const running = new Map<string, number>();
  let count = 0;
  for (const { key, hasProxies, candidate: { meta: { namespace } } } of order) {
    const ofNamespace = running.get(namespace) ?? 0;
    if (count >= MAX_ROLLOUTS) waits.set(key, "it waits for the end of other rollouts");
    else if (ofNamespace >= MAX_OF_NAMESPACE && !hasProxies) {
      waits.set(key, "it waits for the end of other rollouts of its namespace");
    } else {
      running.set(namespace, ofNamespace + 1);
      count++;
    }
  }
  return { waits, order: [...order.map(({ key }) => key), ...unable] };
}

function inTurns(able: readonly RolloutInLine[]): RolloutInLine[] {
  const groups = [
    able.filter(({ hasProxies }) => hasProxies),
    able.filter(({ hasProxies, isIdle }) => !hasProxies && !isIdle),
    able.filter(({ hasProxies, isIdle }) => !hasProxies && isIdle),
  ];
  const counts = new Map<string, number>();
  return groups.flatMap((group) => {
    const turns = group.map((one) => {
      const { namespace } = one.candidate.meta;
      const turn = counts.get(namespace) ?? 0;
      counts.set(namespace, turn + 1);
      return { one, turn };
    });
    return turns.sort((a, b) => a.turn - b.turn).map(({ one }) => one);
  });
}

/** The line of rollouts, which is made anew when a rollout has changed: every look asks for it. */
export class LineKeeper {
  readonly #subsets: SubsetReader;
  readonly #rootNamespace: string;
  #all: readonly RolloutInLine[] = [];
  #line: RolloutLine = { waits: new Map(), order: [] };

  /**
   * @param domain DNS suffix of the mesh, which completes short hosts.
   * @param rootNamespace Rollouts of every namespace wait for rollouts of this namespace. Empty: there is none.
   */
  constructor(domain: string, rootNamespace: string) {
    this.#subsets = new SubsetReader(domain);
    this.#rootNamespace = rootNamespace;
  }

  /** The line of rollouts. @param all The oldest first. */
  of(all: readonly RolloutInLine[]): RolloutLine {
    if (isSameLine(all, this.#all)) return this.#line;
    this.#all = all;
    this.#line = lineOf(all, neededRollouts(all, this.#subsets, this.#rootNamespace));
    return this.#line;
  }
}

function isSameLine(a: readonly RolloutInLine[], b: readonly RolloutInLine[]): boolean {
  return a.length === b.length && a.every((one, at) => {
    const { key, settled, candidate, isTakenBack, hasProxies, isIdle } = b[at]!;
    return one.key === key && one.settled === settled && one.candidate === candidate &&
      one.isTakenBack === isTakenBack && one.hasProxies === hasProxies && one.isIdle === isIdle;
  });
}
