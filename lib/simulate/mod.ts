/**
 * The request simulator: what a proxy would do with a request, and which object caused each step.
 *
 * ```ts ignore
 * const result = simulate(resources, {
 *   direction: "outbound",
 *   destination: { ip: "10.96.0.10", port: 80 },
 *   protocol: "http",
 *   host: "reviews",
 * });
 * console.log(explain(result));
 * ```
 *
 * Permissions: none.
 *
 * @module
 */
export { type EncodedMessage, resourcesFrom } from "./decoded.ts";
export { explain } from "./explain.ts";
export { simulate } from "./simulate.ts";
export type * from "./types.ts";
