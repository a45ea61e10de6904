/**
 * Entry of the program `pilot-agent`.
 *
 * Permissions: the permission set `pilot-agent` of deno.json.
 *
 * @module
 */
import { mainProgram } from "../../lib/cli/run/process.ts";
import { pilotAgent } from "./commands.ts";

await mainProgram(pilotAgent);
