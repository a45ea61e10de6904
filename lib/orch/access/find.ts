/**
 * Where access to the orchestrator's API is described: the flag, `KUBECONFIG`, the pod's account, the home folder; the
 * first that there is.
 *
 * Permissions: read (the pod's account, the home folder).
 *
 * @module
 */

/** Files, a text whose author need not be trusted, or the account that a pod is given. */
export type AccessPlace =
  | {
    readonly from: "text"; /** Its name in messages. */
    readonly name: string;
    readonly text: string;
    readonly by: string;
  }
  | { readonly from: "files"; readonly files: readonly string[]; /** As people say it. */ readonly by: string }
  | { readonly from: "pod"; readonly server: string; readonly folder: string; readonly by: string };

/** Hints to the place of the access. */
export interface PlaceHints {
  /** `--orchconfig`; undefined: not given. */
  readonly flag: string | undefined;
  /** Variable `KUBECONFIG`: files, separated by colons; empty: none. */
  readonly variable: string;
  /** Variables of the pod: host empty outside of one. */
  readonly host: string;
  readonly port: string;
  /** Folder of the pod's account. Default: where a pod has it. */
  readonly accountFolder?: string;
  /** The home folder; empty: none. */
  readonly home: string;
}

/** Where a pod has the token and the CA of its account. */
const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Where access is described; undefined: nowhere. */
export function findAccess(hints: PlaceHints): AccessPlace | undefined {
  const { flag, variable, host, port, accountFolder = ACCOUNT_FOLDER, home } = hints;
  if (flag !== undefined) return { from: "files", files: [flag], by: "flag --orchconfig" };
  const files = variable.split(":").filter((file) => file !== "");
  if (files.length > 0) return { from: "files", files, by: "variable KUBECONFIG" };
  if (host !== "" && exists(`${accountFolder}/token`)) {
    const at = host.includes(":") ? `[${host}]` : host;
    return {
      from: "pod",
      server: `https://${at}:${port === "" ? "443" : port}`,
      folder: accountFolder,
      by: "the pod's account",
    };
  }
  const file = `${home}/.kube/config`;
  return home !== "" && exists(file) ? { from: "files", files: [file], by: file } : undefined;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
