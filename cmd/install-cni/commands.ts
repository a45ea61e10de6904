/**
 * The command tree of `install-cni`. What a command runs is imported when it runs, so that `version` and `completion`
 * stay quick.
 *
 * Permissions: none.
 *
 * @module
 */
import { type Command, runs } from "../../lib/cli/command.ts";
import { completionCommand } from "../../lib/cli/completion/command.ts";
import { versionCommand } from "../../lib/cli/version.ts";
import { installFlags, installGlobals } from "./flags.ts";
import { laterModule } from "./later.ts";

/** The program. */
export const installCni: Command = {
  name: "install-cni",
  summary: "Install the mesh's network plugin on a node, and repair pods that started before it",
  description:
    "Installs and configures the mesh's network plugin on a node, and repairs pods that started before it was there.",
  flags: installFlags,
  globals: installGlobals,
  commands: [completionCommand("install-cni"), versionCommand],
  run: runs({ ...installFlags, ...installGlobals }, async ({ flags, given }) => {
    const { startInstaller } = await laterModule("start.ts");
    return await startInstaller(flags, given);
  }),
};
