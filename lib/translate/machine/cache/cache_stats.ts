/**
 * The use of the caches of results, for metrics and pages.
 *
 * @module
 */

/**
 * Counts over the caches of results that classes of proxies share, since these caches were made, and their present
 * size.
 */
export interface CacheStats {
  /** Look-ups that found a result, and that had to build one. */
  readonly hits: number;
  readonly misses: number;
  /** Results that were removed because their inputs changed, and because too many of one name came. */
  readonly cleared: number;
  readonly crowdedOut: number;
  readonly size: number;
  /** Things (services, rules) on which results depend. */
  readonly dependencies: number;
}
