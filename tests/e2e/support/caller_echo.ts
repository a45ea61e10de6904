/**
 * The workload of tests that says who called it is that of the demo.
 *
 * Permissions: net (a loopback port).
 *
 * @module
 */
export { callerEcho } from "../../../scripts/demo/caller_echo.ts";
