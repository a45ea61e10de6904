/**
 * The proxies of a stage: a stable choice by the hash of the proxy's identity and the object's key.
 *
 * The same proxies come first in every rollout of an object, and the proxies of a stage are among the proxies of the
 * next stage.
 *
 * @module
 */
import { hash as digest } from "node:crypto";

/** The place of a proxy in the order of an object's rollouts: 0 to 2^48 - 1. */
export function placeInOrder(proxy: string, object: string): number {
  return parseInt(digest("sha256", `${object}\n${proxy}`, "hex").slice(0, 12), 16);
}

/** How many proxies a stage may have. At least one: a stage without a proxy tries nothing. */
export function sizeOfStage(total: number, percent: number): number {
  return total === 0 ? 0 : Math.max(1, Math.floor(total * percent / 100));
}

/** The proxies of a stage. */
export interface StageChoice {
  readonly proxies: ReadonlySet<string>;
  /** Proxies up to this place in the order are chosen; -1: none. */
  readonly limit: number;
}

/** The proxies of a stage, among all concerned proxies. */
export interface StageSelection extends StageChoice {
  /** Concerned proxies of all servers. */
  readonly total: number;
  /** The places of the chosen proxies of all servers. */
  readonly places: ReadonlySet<number>;
}

/** The last known choice before a restart. */
export interface EarlierChoice {
  /** Concerned proxies. */
  readonly total: number;
  readonly limit: number;
}

/** The place behind all places. */
const EVERY_PLACE = 2 ** 48;

const NO_PLACES: ReadonlySet<number> = new Set();

/** Share of a stage by which the number of its proxies may differ while proxies come and go. */
const TOLERATED = 1 / 20;

/**
 * Chooses the proxies of a stage.
 *
 * @param concerned The identities of the concerned proxies of this server.
 * @param earlier While proxies come back after a restart: only proxies of the earlier choice are chosen, and the size of
 * the stage is that of all expected proxies.
 * @param elsewhere The places of the concerned proxies of other servers.
 * @param present The present limit of the stage, which stays while its number of proxies fits.
 * @param kept The places of the proxies that keep the candidate. When other proxies leave, or a server no longer reports
 * its proxies, these proxies are a larger share of the rest.
 */
export function chooseProxies(
  object: string,
  concerned: Iterable<string>,
  percent: number,
  { earlier, elsewhere = [], present = -1, kept = NO_PLACES }: {
    readonly earlier?: EarlierChoice | undefined;
    readonly elsewhere?: readonly number[];
    readonly present?: number;
    readonly kept?: ReadonlySet<number>;
  } = {},
): StageSelection {
  const own = placesOf(object, concerned);
  // A proxy that has gone to another server may still be in the report of its former server.
  const all = [...new Set([...own.values(), ...elsewhere])].sort((a, b) => a - b);
  const size = percent === 0 ? 0 : sizeOfStage(Math.max(all.length, earlier?.total ?? 0), percent);
  const able = earlier === undefined ? all : all.filter((place) => place <= earlier.limit);
  // A proxy that has not come back yet keeps its version, so the limit does not fall to the known proxies.
  const limit = earlier !== undefined && size > 0 && able.length <= size
    ? earlier.limit
    : limitOf(able, size, { present, kept, isEverybody: percent === 100 && earlier === undefined });
  return {
    ...{ proxies: upTo(own, limit), limit, total: all.length },
    places: new Set(all.filter((place) => place <= limit)),
  };
}

function limitOf(
  places: readonly number[],
  size: number,
  { present, kept, isEverybody }: {
    readonly present: number;
    readonly kept: ReadonlySet<number>;
    readonly isEverybody: boolean;
  },
): number {
  if (size === 0) return -1;
  if (isEverybody) return EVERY_PLACE;
  const chosen = places.filter((place) => place <= present);
  if (chosen.length > 0 && Math.abs(chosen.length - size) <= size * TOLERATED) return present;
  const most = Math.max(size, chosen.filter((place) => kept.has(place)).length);
  if (most > size && chosen.length === most) return present;
  return places[most - 1] ?? places.at(-1) ?? -1;
}

/** The proxies whose places are not behind a limit. */
export function chosenUpTo(object: string, concerned: Iterable<string>, limit: number): ReadonlySet<string> {
  return upTo(placesOf(object, concerned), limit);
}

/** The places of proxies in the order of an object's rollouts. */
export function placesOf(object: string, proxies: Iterable<string>): ReadonlyMap<string, number> {
  return new Map([...new Set(proxies)].map((proxy) => [proxy, placeInOrder(proxy, object)]));
}

function upTo(places: ReadonlyMap<string, number>, limit: number): ReadonlySet<string> {
  return new Set([...places].filter(([, place]) => place <= limit).map(([proxy]) => proxy));
}

/** Whether two choices have the same proxies. */
export function sameProxies(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
