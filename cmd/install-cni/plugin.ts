/**
 * The network plugin's engine.
 *
 * Permissions: those of `lib/cni/plugin/main.ts`.
 *
 * @module
 */
export { pluginMain } from "../../lib/cni/plugin/main.ts";
