/**
 * The type by which the relay knows extension configurations; the code that rewrites them is loaded with the first.
 *
 * @module
 */

/** Type of extension configurations. */
export const EXTENSION_CONFIG_TYPE = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
