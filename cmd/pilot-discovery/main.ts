/**
 * Entry of the program `pilot-discovery`.
 *
 * Permissions: the permission set `pilot-discovery` of deno.json.
 *
 * @module
 */
import { mainProgram } from "../../lib/cli/run/process.ts";
import { pilotDiscovery } from "./commands.ts";

await mainProgram(pilotDiscovery);
