/** A node's primary network with our entry, as the installer chains it. */
import type { TestNode } from "./node.ts";

/** The list's text. `entry` and `primary` add members to ours and to the primary. */
export function chainedText(node: TestNode, version?: string, entry: object = {}, primary = {}): string {
  const list = JSON.parse(node.primary(version, primary));
  list.plugins.push({ type: "mesh-cni", name: "mesh-cni", cni_agent_run_dir: node.runDir, ...entry });
  return JSON.stringify(list);
}
