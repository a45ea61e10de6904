/**
 * Addresses of servers in two localities, in the network of a test (RFC 5737): an API server takes no endpoints on the
 * loopback.
 *
 * @module
 */

/** Of the server where the client is. */
export const NEAR_ADDRESS = "198.51.100.1";

/** Of the server elsewhere. */
export const FAR_ADDRESS = "198.51.100.2";
