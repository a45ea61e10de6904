/**
 * Entry of the program `install-cni`.
 *
 * Permissions: the permission set `install-cni` of deno.json.
 *
 * @module
 */
import { mainProgram } from "../../lib/cli/process.ts";
import { installCni } from "./commands.ts";

await mainProgram(installCni);
