/**
 * Where the claims of a verified token are in a request's metadata: the filter that verifies tokens writes them, and
 * authorization and routes read them.
 *
 * @module
 */

/** Name of the filter, and of its part of the metadata. */
export const JWT_FILTER = "envoy.filters.http.jwt_authn";

/** Key of the claims in it. */
export const JWT_PAYLOAD_KEY = "payload";
