/**
 * The metadata field of a cluster with the ALPN protocols for HTTP requests.
 *
 * @module
 */

/** Field of the metadata under `istio`; a text, names separated by commas. */
export const HTTP_ALPN_FIELD = "http_alpn";
