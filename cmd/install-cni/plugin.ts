/**
 * The network plugin's engine.
 *
 * Permissions: the same as `lib/cni/plugin/main.ts`.
 *
 * @module
 */
export { pluginMain } from "../../lib/cni/plugin/main.ts";
