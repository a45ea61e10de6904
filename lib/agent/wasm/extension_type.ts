/**
 * The type of extension configurations. The code that rewrites them is loaded with the first configuration.
 *
 * @module
 */

/** Type of extension configurations. */
export const EXTENSION_CONFIG_TYPE = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
