/**
 * The type by which the relay knows extension configurations; what rewrites them is loaded with the first of them.
 *
 * @module
 */

/** Type of extension configurations. */
export const EXTENSION_CONFIG_TYPE = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
