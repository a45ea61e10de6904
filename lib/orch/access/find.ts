/**
 * Finds the description of access to the orchestrator's API. The first existing place counts: the flag, `KUBECONFIG`,
 * the pod's account, the home folder.
 *
 * Permissions: read (the pod's account, the home folder).
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";

/** Files, the text of an untrusted author, or the account of a pod. `by` is the place in words, for messages. */
export type AccessPlace =
  | {
    readonly from: "text";
    /** Name of the text in messages. */
    readonly name: string;
    readonly text: string;
    readonly by: string;
  }
  | {
    readonly from: "files";
    readonly files: readonly string[];
    /** Name of a context in the files. Default: the current context. */
    readonly context?: string;
    readonly by: string;
  }
  | { readonly from: "pod"; readonly server: string; readonly folder: string; readonly by: string };

/** Hints to the place of the access. */
export interface PlaceHints {
  /** `--orchconfig`; undefined: not given. */
  readonly flag: string | undefined;
  /** `--context`, which only files can have: the pod's account does not count then. Default: the current context. */
  readonly context?: string | undefined;
  /** Variable `KUBECONFIG`: files, separated by colons; empty: no files. */
  readonly variable: string;
  /** Address of the API in the pod's variables; an empty host: the program does not run in a pod. */
  readonly host: string;
  readonly port: string;
  /** Folder of the pod's account. Default: the usual folder. */
  readonly accountFolder?: string;
  /** The home folder; empty: there is no home folder. */
  readonly home: string;
}

/** The usual folder of the token and the CA of a pod's account. */
const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Where access is described; undefined: nowhere. */
export function findAccess(hints: PlaceHints): AccessPlace | undefined {
  const { flag, context, variable, host, port, accountFolder = ACCOUNT_FOLDER, home } = hints;
  const inFiles = (files: readonly string[], by: string): AccessPlace => ({
    ...{ from: "files", files, by },
    ...context === undefined ? {} : { context },
  });
  if (flag !== undefined) return inFiles([flag], "flag --orchconfig");
  const files = variable.split(":").filter((file) => file !== "");
  if (files.length > 0) return inFiles(files, "variable KUBECONFIG");
  if (context === undefined && host !== "" && exists(`${accountFolder}/token`)) {
    return {
      from: "pod",
      server: `https://${hostAndPort(host, port === "" ? "443" : port)}`,
      folder: accountFolder,
      by: "the pod's account",
    };
  }
  const file = `${home}/.kube/config`;
  return home !== "" && exists(file) ? inFiles([file], file) : undefined;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
