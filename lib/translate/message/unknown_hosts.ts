/**
 * Names of the virtual host that takes requests to unknown hosts, and of its route.
 *
 * @module
 */

/** Where the outbound policy lets requests out. */
export const ALLOW_ANY = "allow_any";
/** Where it does not. */
export const BLOCK_ALL = "block_all";
