/**
 * The field by which a cluster tells the filters of its requests which protocols to offer in the TLS handshake.
 *
 * @module
 */

/** Field of the metadata under `istio`; a text, names separated by commas. */
export const HTTP_ALPN_FIELD = "http_alpn";
