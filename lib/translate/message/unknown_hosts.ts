/**
 * Names of what takes requests to hosts that nobody knows: of the virtual host, and of its route.
 *
 * @module
 */

/** Where the outbound policy lets requests out. */
export const ALLOW_ANY = "allow_any";
/** Where it does not. */
export const BLOCK_ALL = "block_all";
