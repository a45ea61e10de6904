/**
 * How many series of standard metrics a proxy may have.
 *
 * @module
 */

/**
 * Series of all listeners of a proxy together. Tags contain values from clients, so there must be a limit; Envoy does
 * not count in further series. The limit is 10,000 combinations of tags: a request counts in one counter and three
 * histograms. Measured with Envoy 1.40: 15 kB of memory for each combination.
 */
export const SERIES_LIMITS = { counters: 10_000, histograms: 30_000 } as const;
