/**
 * The workload for tests about callers: the demo's workload, which answers with the caller.
 *
 * Permissions: net (a loopback port).
 *
 * @module
 */
export { callerEcho } from "../../../scripts/demo/caller_echo.ts";
