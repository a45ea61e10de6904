/**
 * A cluster of tests in a process of its own, started as `deno task cluster` does. The cluster ends with its starter.
 *
 * Permissions: read (deno.json), run (setpriv, deno).
 *
 * @module
 */

/** See the module. Disposing of it ends the cluster. */
export interface ClusterProcess extends AsyncDisposable {
  /** Folder of the cluster's files; its kubeconfig is `kubeconfig`. */
  readonly folder: string;
}

const KUBECONFIG = "/kubeconfig";

/**
 * Starts a cluster. Resolves when its nodes are ready.
 *
 * @param root Folder of the tree.
 * @param args Of `deno task cluster`.
 * @throws {Error} with the output, when the cluster does not start
 */
export async function startClusterProcess(root: string, args: readonly string[] = []): Promise<ClusterProcess> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${root}/deno.json`));
  const words: string[] = tasks.cluster.command.split(" ").slice(1);
  const child = new Deno.Command("setpriv", {
    args: ["--pdeathsig", "TERM", "--", Deno.execPath(), ...words, ...args],
    ...{ cwd: root, stdin: "null", stdout: "piped", stderr: "piped" },
  }).spawn();
  const errors = new Response(child.stderr).text();
  let printed = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    printed += text;
    if (printed.endsWith(`${KUBECONFIG}\n`)) break;
  }
  const folder = printed.trim().split("\n").at(-1)!.slice(0, -KUBECONFIG.length);
  if (!printed.endsWith(`${KUBECONFIG}\n`)) throw new Error(`the cluster did not start:\n${await errors}`);
  const end = async () => {
    child.kill("SIGTERM");
    await child.status;
    await errors;
  };
  return { folder, [Symbol.asyncDispose]: end };
}
