/**
 * What AuthorizationPolicies and PeerAuthentications mean for a connection when nothing is known about requests. Written
 * from the description of the kinds, without the code under test.
 *
 * @module
 */
import type { ConfigObject } from "../../../lib/config/types.ts";
import type { AuthorizationRule } from "../../../lib/config/kinds/authorization_policy/schema.ts";
import { MESH, ROOT } from "./objects.ts";

type AuthorizationPolicy = ConfigObject<"AuthorizationPolicy">;
type PeerAuthentication = ConfigObject<"PeerAuthentication">;

/** Whether something holds: for every request, for no request, or depending on the request. */
type Holds = "yes" | "no" | "maybe";

export interface ModelWorkload {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A connection of IPv4 addresses. */
export interface ModelConnection {
  readonly source: string;
  /** Trust domain, namespace, account. Absent: a plain connection. */
  readonly identity?: readonly [string, string, string];
  readonly ip: string;
  readonly port: number;
}

/** Whether the workload accepts every request (or byte) of the connection. */
export function accepts(
  policies: readonly AuthorizationPolicy[],
  peers: readonly PeerAuthentication[],
  workload: ModelWorkload,
  connection: ModelConnection,
): boolean {
  if (connection.identity === undefined && isStrict(peers, workload, connection.port)) return false;
  const own = policies.filter((one) => isFor(one, workload) && !isTried(one) && one.spec.targetRefs === undefined);
  const holding = (action: string) =>
    own.filter(({ spec }) => spec.action === action).map((one) => ofPolicy(one, connection));
  const [denies, allows] = [holding("DENY"), holding("ALLOW")];
  return denies.every((one) => one === "no") && (allows.length === 0 || allows.includes("yes"));
}

function isTried({ meta }: AuthorizationPolicy): boolean {
  return meta.annotations["mesh.io/dry-run"] === "true";
}

function isFor(object: AuthorizationPolicy | PeerAuthentication, { namespace, labels }: ModelWorkload): boolean {
  const wanted = object.spec.selector?.matchLabels ?? {};
  const reaches = object.meta.namespace === namespace || object.meta.namespace === ROOT;
  return reaches && Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

function isStrict(peers: readonly PeerAuthentication[], workload: ModelWorkload, port: number): boolean {
  const chooses = (one: PeerAuthentication) => one.spec.selector !== undefined;
  const oldest = (some: readonly PeerAuthentication[]) =>
    some.toSorted((a, b) => a.meta.creationTimestamp - b.meta.creationTimestamp || (a.key < b.key ? -1 : 1))[0];
  const own = peers.filter((one) => one.meta.namespace === workload.namespace);
  const levels = [
    oldest(peers.filter((one) => one.meta.namespace === ROOT && !chooses(one))),
    oldest(own.filter((one) => !chooses(one))),
    oldest(own.filter((one) => chooses(one) && isFor(one, workload))),
  ];
  let mode = "PERMISSIVE";
  for (const level of levels) if (level?.spec.mtls && level.spec.mtls.mode !== "UNSET") mode = level.spec.mtls.mode;
  const ofPort = levels[2]?.spec.portLevelMtls?.[`${port}`]?.mode ?? "UNSET";
  return (ofPort === "UNSET" ? mode : ofPort) === "STRICT";
}

function ofPolicy({ meta, spec }: AuthorizationPolicy, connection: ModelConnection): Holds {
  return any((spec.rules ?? []).map((rule) => ofRule(rule, meta.namespace, connection)));
}

function ofRule({ from, to, when = [] }: AuthorizationRule, home: string, connection: ModelConnection): Holds {
  const sides = [
    from?.map(({ source = {} }) => ofFields(source, home, connection)),
    to?.map(({ operation = {} }) => ofFields(operation, home, connection)),
  ].filter((one) => one !== undefined);
  const conditions = when.map(({ key, values, notValues }) =>
    all([ofList(key, values, home, connection), opposite(ofList(key, notValues, home, connection, "no"))])
  );
  return all([...sides.map(any), ...conditions]);
}

function ofFields(
  fields: Readonly<Record<string, readonly string[] | undefined>>,
  home: string,
  connection: ModelConnection,
): Holds {
  return all(
    Object.entries(fields).map(([name, values]) => {
      if (!name.startsWith("not")) return ofList(name, values, home, connection);
      return opposite(ofList(`${name[3]?.toLowerCase()}${name.slice(4)}`, values, home, connection, "no"));
    }),
  );
}

/** Whether some value holds; `absent` without values. */
function ofList(
  name: string,
  values: readonly string[] | undefined,
  home: string,
  connection: ModelConnection,
  absent: Holds = "yes",
): Holds {
  return values === undefined ? absent : any(values.map((value) => ofValue(name, value, home, connection)));
}

function ofValue(name: string, value: string, home: string, { source, identity, ip, port }: ModelConnection): Holds {
  switch (name) {
    case "principals":
    case "source.principal":
      return said(identity !== undefined && namesFor(value, identity).some((one) => like(value, one)));
    case "namespaces":
    case "source.namespace":
      return said(identity !== undefined && like(value, identity[1]));
    case "serviceAccounts":
    case "source.serviceAccount":
      return said(identity?.slice(1).join("/") === (value.includes("/") ? value : `${home}/${value}`));
    case "ipBlocks":
    case "source.ip":
      return said(within(value, source));
    case "destination.ip":
      return said(within(value, ip));
    case "ports":
    case "destination.port":
      return said(Number(value) === port);
    default:
      return "maybe";
  }
}

/**
 * The identity as a value of a rule may name it. For values of the form `DOMAIN/ns/NAMESPACE/sa/ACCOUNT`, the trust
 * domains of the mesh stand for each other.
 */
function namesFor(value: string, [domain, namespace, account]: readonly [string, string, string]): string[] {
  const own = [MESH.trustDomain, ...MESH.trustDomainAliases];
  const rest = `ns/${namespace}/sa/${account}`;
  const domains = own.includes(domain) && value.split("/").length === 5 ? [...own, "cluster.local"] : [domain];
  return value.startsWith("spiffe://") ? [`spiffe://${domain}/${rest}`] : domains.map((one) => `${one}/${rest}`);
}

function like(pattern: string, text: string): boolean {
  const [start = "", end] = pattern.split("*");
  return end === undefined ? pattern === text : text !== "" && text.startsWith(start) && text.endsWith(end);
}

function within(block: string, ip: string): boolean {
  const number = (text: string) => text.split(".").reduce((sum, one) => sum * 256 + Number(one), 0);
  const [base = "", bits = "32"] = block.split("/");
  const size = 2 ** (32 - Number(bits));
  return Math.floor(number(base) / size) === Math.floor(number(ip) / size);
}

function said(holds: boolean): Holds {
  return holds ? "yes" : "no";
}

function any(some: readonly Holds[]): Holds {
  return some.includes("yes") ? "yes" : some.includes("maybe") ? "maybe" : "no";
}

function all(some: readonly Holds[]): Holds {
  return some.includes("no") ? "no" : some.includes("maybe") ? "maybe" : "yes";
}

function opposite(one: Holds): Holds {
  return one === "maybe" ? one : said(one === "no");
}
