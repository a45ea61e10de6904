/**
 * What a server reports about rollouts to the server that decides: the proxies of the reporting server.
 *
 * @module
 */
import * as z from "zod";

/** The proxies of a server that a rollout concerns. */
export interface ServerShare {
  /** Hash of the content of the version that the server has as the candidate. */
  readonly candidate: string;
  /** The place in the order up to which the server has chosen its proxies. */
  readonly limit: number;
  /** The places of all concerned proxies. */
  readonly places: readonly number[];
  /** Chosen proxies that have acknowledged the candidate. */
  readonly live: number;
  /** Chosen proxies that lack resources because of failures to make them. */
  readonly failing: number;
  /** Chosen proxies that have rejected a part of the candidate. */
  readonly refused: number;
  /** The reasons of the refusing proxies. */
  readonly words: readonly string[];
}

/** The shares of a server, by object. */
export type ServerShares = ReadonlyMap<string, ServerShare>;

/** Longest reason, characters. */
const MAX_REASON_LENGTH = 1000;

/** Most proxies of a server. */
const MAX_PLACES = 100_000;

const count = z.number().int().nonnegative();

const SHARE = z.object({
  candidate: z.string().max(200),
  limit: z.number(),
  places: z.array(z.number()).max(MAX_PLACES),
  ...{ live: count, failing: count, refused: count },
  words: z.array(z.string().max(MAX_REASON_LENGTH)).max(10),
});

const SHARES = z.object({ version: z.literal(1), rollouts: z.record(z.string(), SHARE) });

/** Shares as text. */
export function writtenShares(shares: ServerShares): string {
  const rollouts = [...shares].map(([key, share]) => {
    const places = share.places.slice(0, MAX_PLACES);
    return [key, { ...share, places, words: share.words.map((one) => one.slice(0, MAX_REASON_LENGTH)) }];
  });
  return JSON.stringify({ version: 1, rollouts: Object.fromEntries(rollouts) });
}

/** Shares from their text. @throws {Error} when the text has another form */
export function readShares(text: string): ServerShares {
  return new Map(Object.entries(SHARES.parse(JSON.parse(text)).rollouts));
}
