/**
 * The request simulator: a proxy's steps with a request, and the object behind each step.
 *
 * ```ts
 * import { explain, resourcesFrom, simulate } from "@mesh/pilot";
 *
 * const result = simulate(resourcesFrom([]), {
 *   direction: "outbound",
 *   destination: { ip: "10.96.0.10", port: 80 },
 *   protocol: "http",
 *   host: "reviews",
 * });
 * if (explain(result) !== "=> connection closed: no listener has that address") throw new Error(explain(result));
 * ```
 *
 * @module
 */
export { type EncodedMessage, resourcesFrom } from "./decoded.ts";
export { explain } from "./explain.ts";
export { simulate } from "./simulate.ts";
export type * from "./types.ts";
