/**
 * Addresses as logs and reasons show them.
 *
 * @module
 */

/** An address without the user and the password that it may have. */
export function shownUrl(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, "$1");
}
