/**
 * A node tunnel's decision about a connection to a workload, by the policies that the tunnel has.
 *
 *     listed at the workload ─┐
 *     of its namespace ───────┼─> a DENY policy matches: refused
 *     of the mesh ────────────┘   no ALLOW policy, or an ALLOW policy matches: accepted
 *
 * @module
 */
import { Action, Scope } from "../../../proto/gen/enums.ts";
import type { istio } from "../../../proto/gen/types.ts";
import { ipOf, sharesPrefix } from "../ip.ts";
import type { SocketAddress } from "../types.ts";

type Authorization = istio.security.Authorization;
type Match = istio.security.Match;

/** A connection as the tunnel of the server sees it. */
export interface TunnelConnection {
  /** Address of the client. */
  readonly source: string;
  /** Identity in the client's certificate, `spiffe://DOMAIN/ns/NAMESPACE/sa/ACCOUNT`. Absent: a plain connection. */
  readonly identity?: string;
  /** Address and port of the workload. */
  readonly destination: SocketAddress;
}

/** The policies of a tunnel, by name (`namespace/name`). */
export type TunnelPolicyTable = ReadonlyMap<string, Authorization>;

/** The facts about a workload for the choice of policies. */
export type GuardedWorkload = Pick<istio.workload.Workload, "namespace" | "authorization_policies">;

/** The decision about a connection. */
export interface TunnelVerdict {
  readonly accepted: boolean;
  /** The deciding policy: the matching policy. Absent: no policy matches. */
  readonly policy?: string;
  /** The policies that were asked, by name: DENY policies before ALLOW policies, each sort in alphabetical order. */
  readonly asked: readonly string[];
  /** Listed policies that the tunnel does not have. The tunnel skips them. */
  readonly unknown: readonly string[];
}

/** Decides about a connection. */
export function authorizeConnection(
  connection: TunnelConnection,
  workload: GuardedWorkload,
  policies: TunnelPolicyTable,
): TunnelVerdict {
  const listed = workload.authorization_policies ?? [];
  const unknown = listed.filter((name) => !policies.has(name));
  const own = [...policies].filter(([name, policy]) => isFor(policy, name, workload)).sort(([a], [b]) =>
    a < b ? -1 : 1
  );
  const denying = own.filter(([, { action = Action.ALLOW }]) => action === Action.DENY);
  const allowing = own.filter(([, { action = Action.ALLOW }]) => action === Action.ALLOW);
  const asked = [...denying, ...allowing].map(([name]) => name);
  const matching = (some: typeof own) => some.find(([, policy]) => matchesConnection(policy, connection))?.[0];
  const denied = matching(denying);
  if (denied !== undefined) return { accepted: false, policy: denied, asked, unknown };
  if (allowing.length === 0) return { accepted: true, asked, unknown };
  const allowed = matching(allowing);
  return { accepted: allowed !== undefined, ...allowed === undefined ? {} : { policy: allowed }, asked, unknown };
}

function isFor({ scope = Scope.GLOBAL, namespace }: Authorization, name: string, workload: GuardedWorkload): boolean {
  if (scope === Scope.GLOBAL) return true;
  if (scope === Scope.NAMESPACE) return (namespace ?? "") === (workload.namespace ?? "");
  return workload.authorization_policies?.includes(name) ?? false;
}

/** Whether a policy matches a connection. */
export function matchesConnection({ groups = [] }: Authorization, connection: TunnelConnection): boolean {
  const facts = factsOf(connection);
  return groups.some(({ rules = [] }) => rules.every((one) => matchesRules(one, facts)));
}

/** A tunnel skips matches without fields, but takes rules without any match as true. */
function matchesRules({ matches = [] }: istio.security.Rules, facts: ConnectionFacts): boolean {
  return matches.length === 0 || matches.some((match) => !isEmpty(match) && matchesAll(match, facts));
}

function isEmpty(match: Match): boolean {
  return Object.values(match).every((values) => (values as readonly unknown[]).length === 0);
}

type IpAddress = NonNullable<ReturnType<typeof ipOf>>;

interface ConnectionFacts {
  readonly source: IpAddress | undefined;
  readonly destination: IpAddress | undefined;
  readonly port: number;
  /** The identity without `spiffe://`. Empty: there is none. */
  readonly principal: string;
  /** Empty: there is no identity. */
  readonly namespace: string;
  readonly serviceAccount: string;
}

function factsOf({ source, identity = "", destination }: TunnelConnection): ConnectionFacts {
  const [, principal = "", namespace = "", serviceAccount = ""] =
    /^spiffe:\/\/([^/]+\/ns\/([^/]+)\/sa\/([^/]+))$/.exec(identity) ?? [];
  const [from, to] = [source, destination.ip].map((text) => ipOf(text));
  return { source: from, destination: to, port: destination.port, principal, namespace, serviceAccount };
}

function matchesAll(match: Match, facts: ConnectionFacts): boolean {
  const { source, destination, port, principal, namespace, serviceAccount } = facts;
  const account = (one: istio.security.ServiceAccountMatch) =>
    principal !== "" && (one.namespace ?? "") === namespace && (one.serviceAccount ?? "") === serviceAccount;
  return (
    passes(match.namespaces, match.not_namespaces, (one) => matchesText(one, namespace)) &&
    passes(match.principals, match.not_principals, (one) => principal !== "" && matchesText(one, principal)) &&
    passes(match.service_accounts, match.not_service_accounts, account) &&
    passes(match.source_ips, match.not_source_ips, (one) => holds(one, source)) &&
    passes(match.destination_ips, match.not_destination_ips, (one) => holds(one, destination)) &&
    passes(match.destination_ports, match.not_destination_ports, (one) => one === port)
  );
}

function passes<T>(wanted: readonly T[] = [], refused: readonly T[] = [], is: (one: T) => boolean): boolean {
  return (wanted.length === 0 || wanted.some(is)) && !refused.some(is);
}

function matchesText({ exact, prefix, suffix, presence }: istio.security.StringMatch, text: string): boolean {
  if (exact !== undefined) return text === exact;
  if (prefix !== undefined) return text.startsWith(prefix);
  if (suffix !== undefined) return text.endsWith(suffix);
  return presence !== undefined && text !== "";
}

function holds({ address, length = 0 }: istio.security.Address, ip: IpAddress | undefined): boolean {
  const bytes = ip?.toByteArray();
  return bytes !== undefined && bytes.length === address?.length && sharesPrefix(bytes, address, length);
}
