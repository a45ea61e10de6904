/**
 * Agents of tests are the agents of the demo.
 *
 * Permissions: run (deno), read, write (a temporary folder), net (loopback), env (PATH, HOME, DENO_DIR, ENVOY).
 * @module
 */
export { AgentProcess, type AgentProcessOptions } from "../../../scripts/demo/agent.ts";
