/**
 * The command `scope`: prints the Sidecar that fits what a workload has called.
 *
 * Permissions: net (the address of the server).
 *
 * @module
 */
import { stringify } from "yaml";
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import type { LearnedScope } from "../../lib/debug/learned_scope.ts";
import { askServer, serverOfFlag } from "./ask_server.ts";
import type { scopeFlags } from "./server_flags.ts";

/** Most namespaces in the list of left out services. */
const MAX_NAMESPACES = 10;

/** Resolves with 0 when there is a Sidecar, or with 1 when the server knows too little. */
export async function runScope(
  { flags, args: [workload = ""], output }: Invocation<typeof scopeFlags>,
): Promise<number> {
  const server = serverOfFlag(flags.server);
  if (workload.split("/").filter((part) => part !== "").length !== 2) {
    throw new UsageError(`got ${JSON.stringify(workload)}, expected NAMESPACE/WORKLOAD`);
  }
  const url = new URL("/debug/learned_scope", server);
  url.searchParams.set("workload", workload);
  const answer = await askServer("GET", url, { field: "knowledge" }) as LearnedScope;
  if (flags.output === "json") output.out(`${JSON.stringify(answer, undefined, 2)}\n`);
  else output.out(safeText(scopeText(answer)));
  return answer.sidecar === undefined ? 1 : 0;
}

/** The Sidecar as YAML behind comments, so that the text may be applied as it is. */
export function scopeText(scope: LearnedScope): string {
  const comments = commentsOf(scope).map((line) => `# ${line}\n`).join("");
  return scope.sidecar === undefined ? comments : comments + stringify(scope.sidecar);
}

function commentsOf(scope: LearnedScope): string[] {
  const { workload, knowledge, asking, whole, why, gone, alsoSelects, leavesOut, bytes, memory } = scope;
  const lines = [`${workload}: ${asking} sidecars ask, ${whole} have everything; ${knowledge}.`];
  if (why !== undefined) lines.push(`There is no Sidecar: ${why}.`);
  if (gone.length > 0) lines.push(`Called, and not in the mesh now: ${gone.join(", ")}.`);
  if (alsoSelects.length > 0) {
    lines.push(`Check the selector: it also selects ${alsoSelects.join(", ")}, whose calls are not in the list.`);
  }
  if (leavesOut === undefined || bytes === undefined || memory === undefined) return lines;
  const namespaces = Object.entries(leavesOut.byNamespace);
  const shown = namespaces.slice(0, MAX_NAMESPACES).map(([name, count]) => `${count} of ${name}`);
  const more = namespaces.length > MAX_NAMESPACES ? `, and ${namespaces.length - MAX_NAMESPACES} more namespaces` : "";
  return [
    ...lines,
    `Leaves out ${leavesOut.services} of ${leavesOut.of} services${
      shown.length > 0 ? `: ${shown.join(", ")}` : ""
    }${more}.`,
    `Configuration of one sidecar: ${bytes.everything} bytes with everything, ${bytes.called} bytes for what is called.`,
    `Memory of one Envoy, estimated from measurements: ${memory.everything} MiB and ${memory.called} MiB.`,
  ];
}
