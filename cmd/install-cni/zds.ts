/**
 * The socket process of node tunnels.
 *
 * Permissions: the same as `lib/cni/zds/process.ts`.
 *
 * @module
 */
export { zdsMain } from "../../lib/cni/zds/process.ts";
