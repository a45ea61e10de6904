/**
 * Control groups of containers, which outlive the namespaces of a node.
 *
 * Permissions: run (sh): the runtime itself reads and writes control groups only with all permissions.
 *
 * @module
 */

/** Removes the groups of the containers in the arguments. The last processes of a group may still be ending. */
const REMOVE = `for id in "$@"; do
  for group in /sys/fs/cgroup/k8s.io/"$id" /sys/fs/cgroup/*/k8s.io/"$id"; do
    for try in $(seq 50); do
      [ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || { sleep 0.1; continue; }
      break
    done
  done
done`;

/** Removes the control groups of ended containers. */
export async function removeGroups(containers: readonly string[]): Promise<void> {
  await new Deno.Command("sh", { args: ["-c", REMOVE, "sh", ...containers], stdin: "null" }).output();
}
