/**
 * The tools of operators, as processes: Helm and kubectl.
 *
 * Permissions: env (GO, HOME, XDG_CACHE_HOME), read (the cache folder), run (deno, the tools).
 * @module
 */
import { builtProgram } from "../../../scripts/orchestrator/binaries.ts";
import { findGo } from "../../../scripts/orchestrator/go.ts";
import { builtPrograms } from "../../orch/support/server/programs.ts";

/** A tool that is built from Go modules. */
export type ClusterTool = "helm" | "kubectl";

/** Registers a test that needs tools. */
export type DefineToolTest = (name: string, run: () => Promise<void>) => void;

const hasGo = await findGo() !== undefined;

function lacking(...tools: readonly ClusterTool[]): string | undefined {
  if (hasGo || tools.every((tool) => builtProgram(tool) !== undefined)) return undefined;
  return `no Go toolchain on the path or in /usr/local/go, which builds ${tools.join(" and ")}; GO may name one`;
}

/** Builds the tools before the tests of a file. Call once a file. @returns why the tools cannot be built, if so */
export function toolsFor(...tools: readonly ClusterTool[]): string | undefined {
  const reason = lacking(...tools);
  if (reason === undefined) Deno.test.beforeAll(() => builtPrograms(tools));
  return reason;
}

/** The tests of a file, which are ignored where the tools cannot be built. Call once a file. */
export function toolTests(...tools: readonly ClusterTool[]): DefineToolTest {
  const reason = toolsFor(...tools);
  const ignore = reason !== undefined;
  return (name, fn) => Deno.test({ name: ignore ? `${name} (ignored: ${reason})` : name, ignore, fn });
}

/**
 * Runs a tool.
 *
 * @param input Text for the tool's standard input.
 * @returns the tool's output
 * @throws {Error} with the tool's complaint
 */
export async function runTool(tool: ClusterTool, args: readonly string[], input = ""): Promise<string> {
  const child = new Deno.Command(builtProgram(tool)!, {
    args: [...args],
    // Plugins and settings of the machine's user stay out of the test.
    env: { HELM_PLUGINS: "/dev/null", KUBECONFIG: "/dev/null" },
    ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${tool} ${args.join(" ")}: ${decoder.decode(stderr).trimEnd()}`);
  return decoder.decode(stdout);
}
