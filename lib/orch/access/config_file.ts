/**
 * Reads and merges orchestrator config files ("kubeconfig"), and takes out the cluster and user of one context.
 *
 * @module
 */
import * as z from "zod";
import { BASE_ADDRESS, isBaseAddress, shownAddress } from "../../kernel/fetch/web_address.ts";
import type { ActingUser } from "../client/access.ts";
import { withoutEnd } from "../../kernel/text/edges.ts";

/** The path and the text of a file. Relative paths in the text begin at the file's folder. */
export interface ConfigFileText {
  readonly file: string;
  readonly text: string;
}

/** A value in the file, or in a file that is named there. */
export type Held = { readonly inline: string } | { readonly file: string };

/** A program that prints credentials. */
export interface ExecProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
}

/** The proofs of a user's identity. */
export interface ConfigUser {
  readonly cert?: Held;
  readonly key?: Held;
  readonly token?: Held;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecProgram;
  /** A plug-in of an identity provider, by name. */
  readonly provider?: { readonly name: string; readonly idToken: string | undefined };
  readonly actsAs?: ActingUser;
}

/** The cluster and user of a context. */
export interface ConfigContext {
  readonly name: string;
  readonly server: string;
  readonly ca?: Held;
  readonly unchecked: boolean;
  readonly proxy?: string;
  readonly namespace?: string;
  readonly user: ConfigUser;
}

const text = z.string().optional();
const named = <T extends z.ZodType>(of: string, inner: T) =>
  z.array(z.object({ name: z.string(), [of]: inner })).nullish();

const cluster = z.object({
  server: z.string(),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": text,
  "proxy-url": text,
});
const user = z.object({
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  "as-groups": z.array(z.string()).nullish(),
  "as-uid": text,
  "as-user-extra": z.record(z.string(), z.array(z.string())).nullish(),
  exec: z.object({
    command: z.string(),
    args: z.array(z.string()).nullish(),
    env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
    apiVersion: z.string(),
  }).nullish(),
  "auth-provider": z.object({ name: z.string(), config: z.record(z.string(), z.string()).nullish() }).nullish(),
});
const file = z.object({
  "current-context": text,
  clusters: named("cluster", cluster),
  users: named("user", user),
  contexts: named("context", z.object({ cluster: z.string(), user: text, namespace: text })),
});

type Cluster = z.infer<typeof cluster>;
type User = z.infer<typeof user>;
interface ContextRow {
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** Rows of several files by name. Of two rows with one name the first counts, as for `kubectl`. */
interface Merged {
  readonly clusters: Map<string, { readonly row: Cluster; readonly file: string }>;
  readonly users: Map<string, { readonly row: User; readonly file: string }>;
  readonly contexts: Map<string, { readonly row: ContextRow; readonly file: string }>;
  current: string | undefined;
}

/**
 * The cluster and user of a context.
 *
 * @param parse Reads YAML; throws for text that is not YAML.
 * @param context Name of the context. Default: the current context of the first file with a current context.
 * @throws {Error} naming file, field, value and expectation: all problems of a file at once.
 */
export function readConfigFiles(
  texts: readonly ConfigFileText[],
  parse: (text: string) => unknown,
  context?: string,
): ConfigContext {
  const merged: Merged = { clusters: new Map(), users: new Map(), contexts: new Map(), current: undefined };
  for (const one of texts) merge(one, parse, merged);
  const files = texts.map((one) => one.file).join(", ");
  const name = context ?? merged.current;
  if (name === undefined || name === "") {
    throw new Error(`${files}: current-context: got none, expected a context's name`);
  }
  const found = merged.contexts.get(name);
  if (found === undefined) {
    const field = context === undefined ? "current-context" : "context";
    throw new Error(`${files}: ${field}: got ${JSON.stringify(name)}, expected one of ${list(merged.contexts)}`);
  }
  const at = merged.clusters.get(found.row.cluster);
  if (at === undefined) {
    throw new Error(
      `${found.file}: contexts[${name}].cluster: got ${JSON.stringify(found.row.cluster)}, expected one of ${
        list(merged.clusters)
      }`,
    );
  }
  const userName = found.row.user ?? "";
  const who = merged.users.get(userName);
  if (who === undefined && userName !== "") {
    throw new Error(
      `${found.file}: contexts[${name}].user: got ${JSON.stringify(userName)}, expected one of ${list(merged.users)}`,
    );
  }
  return {
    name,
    ...clusterOf(found.row.cluster, at.row, at.file),
    ...(found.row.namespace === undefined ? {} : { namespace: found.row.namespace }),
    user: who === undefined ? {} : userOf(userName, who.row, who.file),
  };
}

function merge({ file: path, text: content }: ConfigFileText, parse: (text: string) => unknown, into: Merged): void {
  let tree: unknown;
  try {
    tree = parse(content);
  } catch (error) {
    // The parser's reason may quote the text, and the text holds secrets.
    throw new Error(`${path}: got a text that is not YAML, expected an orchestrator config file`, { cause: error });
  }
  const read = file.safeParse(tree ?? {});
  if (!read.success) {
    const said = read.error.issues.map(({ path: at, message }) => `${path}: ${at.join(".")}: ${message}`);
    throw new Error(said.join("\n"));
  }
  const { clusters, users, contexts, "current-context": current } = read.data;
  const put = <T>(rows: Map<string, { row: T; file: string }>, given: unknown, key: string) => {
    for (const entry of (given ?? []) as Record<string, unknown>[]) {
      const name = entry["name"] as string;
      if (!rows.has(name)) rows.set(name, { row: entry[key] as T, file: path });
    }
  };
  put(into.clusters, clusters, "cluster");
  put(into.users, users, "user");
  put(into.contexts, contexts, "context");
  if (current !== undefined && current !== "") into.current ??= current;
}

function clusterOf(
  name: string,
  row: Cluster,
  path: string,
): Pick<ConfigContext, "server" | "ca" | "unchecked" | "proxy"> {
  if (!isBaseAddress(row.server)) {
    const got = JSON.stringify(shownAddress(row.server));
    throw new Error(`${path}: clusters[${name}].server: got ${got}, expected ${BASE_ADDRESS}`);
  }
  const server = withoutEnd(row.server, "/");
  if (row["tls-server-name"]) {
    throw new Error(
      `${path}: clusters[${name}].tls-server-name: got ${JSON.stringify(row["tls-server-name"])}, expected none: ` +
        `server must name a name of the certificate`,
    );
  }
  const ca = held(
    path,
    row["certificate-authority-data"],
    row["certificate-authority"],
    `clusters[${name}].certificate-authority-data`,
  );
  const proxy = row["proxy-url"];
  if (proxy && !isProxyAddress(proxy)) {
    const got = JSON.stringify(shownAddress(proxy));
    throw new Error(
      `${path}: clusters[${name}].proxy-url: got ${got}, expected http://host:port or socks5://host:port`,
    );
  }
  return {
    ...{ server, unchecked: row["insecure-skip-tls-verify"] ?? false },
    ...(ca === undefined ? {} : { ca }),
    ...(proxy ? { proxy } : {}),
  };
}

/** Whether a text names a proxy: scheme, host and port, and a user and a password at most. */
function isProxyAddress(text: string): boolean {
  return /^(?:https?|socks5h?):\/\/(?:[!-.0-9;-?A-~]+@)?(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?\/?$/i.test(text) &&
    URL.canParse(text);
}

function userOf(name: string, row: User, path: string): ConfigUser {
  const cert = held(
    path,
    row["client-certificate-data"],
    row["client-certificate"],
    `users[${name}].client-certificate-data`,
  );
  const key = held(path, row["client-key-data"], row["client-key"], `users[${name}].client-key-data`);
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error(`${path}: users[${name}]: got only one of client certificate and key, expected both`);
  }
  // A file has precedence over a token: the token is the file's content at the time when the config was written.
  const token: Held | undefined = row.tokenFile
    ? { file: resolved(path, row.tokenFile) }
    : row.token
    ? { inline: row.token }
    : undefined;
  const { exec, "auth-provider": provider, username, password } = row;
  const acting = actingUser(name, row, path);
  return {
    ...(cert && key ? { cert, key } : {}),
    ...(token ? { token } : {}),
    ...(username ? { basic: { username, password: password ?? "" } } : {}),
    ...(exec
      ? {
        exec: {
          command: exec.command.includes("/") ? resolved(path, exec.command) : exec.command,
          args: exec.args ?? [],
          env: Object.fromEntries((exec.env ?? []).map((one) => [one.name, one.value])),
          apiVersion: exec.apiVersion,
        },
      }
      : {}),
    ...(provider ? { provider: { name: provider.name, idToken: provider.config?.["id-token"] } } : {}),
    ...(acting === undefined ? {} : { actsAs: acting }),
  };
}

/**
 * @throws {Error} for groups or other fields without a user name: requests would have all rights of the underlying user
 */
function actingUser(name: string, row: User, path: string): ActingUser | undefined {
  const { as: user, "as-groups": groups, "as-uid": uid, "as-user-extra": extra } = row;
  if (user) return { user, groups: groups ?? [], ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
  const alone = [
    ...(groups?.length ? ["as-groups"] : []),
    ...(uid ? ["as-uid"] : []),
    ...(Object.keys(extra ?? {}).length > 0 ? ["as-user-extra"] : []),
  ];
  if (alone.length === 0) return undefined;
  throw new Error(`${path}: users[${name}].as: got none, expected the user of ${alone.join(" and ")}`);
}

function held(path: string, data: string | undefined, named: string | undefined, field: string): Held | undefined {
  if (data) {
    try {
      return { inline: new TextDecoder().decode(Uint8Array.fromBase64(data)) };
    } catch (error) {
      throw new Error(`${path}: ${field}: expected base64 text`, { cause: error });
    }
  }
  return named ? { file: resolved(path, named) } : undefined;
}

/** Resolves a path relative to the file that holds the path. */
function resolved(base: string, path: string): string {
  if (path.startsWith("/")) return path;
  const folder = base.includes("/") ? base.slice(0, base.lastIndexOf("/")) : ".";
  return `${folder}/${path}`;
}

function list(rows: ReadonlyMap<string, unknown>): string {
  return rows.size === 0 ? "any name, but the files have none" : [...rows.keys()].join(", ");
}
