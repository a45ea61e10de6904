/**
 * Where a request's metadata holds the claims of a verified token. The filter that verifies tokens writes claims,
 * authorization and routes read claims.
 *
 * @module
 */

/** Name of the filter, and of the filter's metadata. */
export const JWT_FILTER = "envoy.filters.http.jwt_authn";

/** Key of the claims in the filter's metadata. */
export const JWT_PAYLOAD_KEY = "payload";
