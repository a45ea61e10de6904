/**
 * Agents of tests are those of the demo.
 *
 * Permissions: run (deno), read, write (a temporary folder), net (loopback), env (PATH, HOME, DENO_DIR, ENVOY).
 *
 * @module
 */
export { AgentProcess, type AgentProcessOptions } from "../../../scripts/demo/agent.ts";
