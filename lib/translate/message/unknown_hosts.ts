/**
 * Names of the virtual host for requests to unknown hosts, and of its route.
 *
 * @module
 */

/** If the outbound policy admits the requests. */
export const ALLOW_ANY = "allow_any";
/** If the outbound policy refuses the requests. */
export const BLOCK_ALL = "block_all";
