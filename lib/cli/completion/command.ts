/**
 * The command `completion <shell>`, and the hidden commands for candidates.
 *
 * @module
 */
import { type Command, runs } from "../command.ts";
import { boolFlag } from "../flag.ts";
import type { Shell } from "./candidates.ts";

/** Hidden command: prints candidates with their descriptions. */
export const COMPLETE = "__complete";

/** Hidden command: prints candidates without descriptions. */
export const COMPLETE_PLAIN = "__completeNoDesc";

const howTo: Readonly<Record<Shell, (program: string) => string>> = {
  bash: (p) => `source <(${p} completion bash)`,
  zsh: (p) => `source <(${p} completion zsh)`,
  fish: (p) => `${p} completion fish | source`,
  powershell: (p) => `${p} completion powershell | Out-String | Invoke-Expression`,
};

async function script(shell: Shell, program: string, request: string): Promise<string> {
  switch (shell) {
    case "bash":
      return (await import("./bash.ts")).bashScript(program, request);
    case "zsh":
      return (await import("./zsh.ts")).zshScript(program, request);
    case "fish":
      return (await import("./fish.ts")).fishScript(program, request);
    case "powershell":
      return (await import("./powershell.ts")).powershellScript(program, request);
  }
}

function shellCommand(program: string, shell: Shell): Command {
  const flags = { "no-descriptions": boolFlag("complete without descriptions") };
  return {
    name: shell,
    summary: `Print the completion script for ${shell}`,
    description: `Prints the completion script for ${shell}.\n\nFor the running shell:\n\n  ${howTo[shell](program)}`,
    flags,
    run: runs(flags, async ({ flags, output }) => {
      output.out(await script(shell, program, flags["no-descriptions"] ? COMPLETE_PLAIN : COMPLETE));
      return 0;
    }),
  };
}

/** The command `completion`, for a program. */
export function completionCommand(program: string): Command {
  return {
    name: "completion",
    summary: "Print a completion script for a shell",
    description:
      `Prints a script that completes ${program}'s commands, flags and values in a shell.\nEach shell's help says how to load it.`,
    commands: (["bash", "fish", "powershell", "zsh"] as const).map((shell) => shellCommand(program, shell)),
  };
}
