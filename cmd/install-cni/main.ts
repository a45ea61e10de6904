/**
 * Entry of the program `install-cni`, and of the network plugin on a node: a container runtime calls the same
 * executable, with the variable CNI_COMMAND.
 *
 * Permissions: the permission set `install-cni` of deno.json.
 *
 * @module
 */
import { mainProgram } from "../../lib/cli/run/process.ts";
import { installCni } from "./commands.ts";
import { laterModule } from "./later.ts";

// Only the socket process of node tunnels calls foreign functions, and that process has no other right.
if (Deno.args[0] !== "zds") await Deno.permissions.revoke({ name: "ffi" });

if (Deno.env.get("CNI_COMMAND") === undefined) await mainProgram(installCni);
else Deno.exit(await (await laterModule("plugin")).pluginMain());
