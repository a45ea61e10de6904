/**
 * Parameters of an injection in the path of its request: `/inject/cluster/c1/net/n1/proxy_log/debug`.
 *
 * A webhook configuration sets values for all pods of its cluster in the path. `cluster` and `net` name the cluster and
 * the network; any other key, in upper case, is a variable of the proxy. A slash in a value is written `--slash--`. The
 * form `/inject/:ENV:cluster=c1:ENV:net=n1` is read too.
 *
 * @module
 */

/** Content of a path. */
export interface InjectionPath {
  readonly cluster?: string;
  readonly network?: string;
  /** Variables of the proxy beside cluster and network. */
  readonly variables: Readonly<Record<string, string>>;
  /** Ignored parts of the path, each with a reason. */
  readonly problems: readonly string[];
}

/** First part of a path. */
const PREFIX = "/inject";
/** Begins each pair of the other form. */
const PAIR = ":ENV:";
const SLASH = "--slash--";
/**
 * Form of a container variable's name (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/).
 */
const NAME = /^[-._A-Z][-._A-Z0-9]*$/;

/**
 * Reads the path of a request.
 *
 * @param path Percent-encoded, as the client sent the path.
 */
export function readInjectionPath(path: string): InjectionPath {
  const problems: string[] = [];
  const variables: Record<string, string> = {};
  const named: { cluster?: string; network?: string } = {};
  for (const [key, value] of pairsOf(decoded(path.slice(PREFIX.length + 1).replace(/\/$/, "")), problems)) {
    if (key === "cluster") named.cluster = value;
    else if (key === "net") named.network = value;
    else if (NAME.test(key.toUpperCase())) variables[key.toUpperCase()] = value;
    else problems.push(`path: got the key ${JSON.stringify(key)}, expected the name of a variable; the key is ignored`);
  }
  return { ...named, variables, problems };
}

function* pairsOf(rest: string, problems: string[]): Generator<[key: string, value: string]> {
  if (rest.startsWith(PAIR)) {
    for (const pair of rest.split(PAIR).slice(1)) {
      const at = pair.indexOf("=");
      if (at > 0) yield [pair.slice(0, at), pair.slice(at + 1)];
      else problems.push(`path: got ${JSON.stringify(pair)}, expected key=value; the part is ignored`);
    }
    return;
  }
  const parts = rest === "" ? [] : rest.split("/");
  for (let index = 0; index < parts.length; index += 2) {
    const [key = "", value] = parts.slice(index, index + 2);
    if (value === undefined) {
      problems.push(`path: got the key ${JSON.stringify(key)} without a value; the key is ignored`);
    } else yield [key, value.replaceAll(SLASH, "/")];
  }
}

/** Cannot fail: the router has decoded the path before. */
function decoded(path: string): string {
  return path.split("/").map(decodeURIComponent).join("/");
}
