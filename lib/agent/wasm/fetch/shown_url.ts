/**
 * Addresses in logs and reasons.
 *
 * @module
 */

/** An address without user and password. */
export function shownUrl(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, "$1");
}
