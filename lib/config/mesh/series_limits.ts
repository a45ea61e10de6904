/**
 * How many series of standard metrics one proxy may have.
 *
 * @module
 */

/**
 * Series of all listeners of a proxy together. Their tags contain values that clients choose, so there must be a limit;
 * Envoy does not count in further ones. It is 10,000 combinations of tags: a request counts in one counter and three
 * histograms. Measured with Envoy 1.40: 15 kB of memory for each combination.
 */
export const SERIES_LIMITS = { counters: 10_000, histograms: 30_000 } as const;
