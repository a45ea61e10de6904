/**
 * Which objects may be at some proxies only. What protects goes everywhere at once.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import { isKind } from "../config/types.ts";
import { fullHost } from "../mesh/names.ts";
import { FORKED_KINDS, type ForkedKind } from "../mesh/options.ts";
import { compileFilter } from "../patches/compile.ts";
import { mayRefuse } from "../patches/guards.ts";

/** Kinds whose objects protect. */
const GUARD_KINDS: ReadonlySet<string> = new Set([
  "AuthorizationPolicy",
  "PeerAuthentication",
  "RequestAuthentication",
]);

/** Whether objects of a kind may be staged. */
export function isStagedKind(kind: string): kind is ForkedKind {
  return FORKED_KINDS.some((one) => one === kind);
}

/** Why an object is not staged, whatever its annotations say; undefined: it may be staged. */
export function whyNotStaged(object: ConfigObject): string | undefined {
  if (GUARD_KINDS.has(object.kind)) return "the object protects";
  if (!isStagedKind(object.kind)) return `objects of kind ${object.kind} are not staged`;
  if (object.origin.from === "derived") return "the object is derived from another object";
  if (isKind(object, "ProxyFilter") && compileFilter(object).patches.some(mayRefuse)) {
    return "a patch of the object may refuse requests";
  }
  // Any other plugin may answer requests itself.
  if (isKind(object, "WasmPlugin") && object.spec.phase !== "STATS") return "the plugin may refuse requests";
  return undefined;
}

/**
 * Whether a version of an object protects otherwise than the settled version. The version goes everywhere at once: no
 * proxy stays without the protection, and errors do not take the protection back.
 */
export function changesProtection(settled: ConfigObject | undefined, newest: ConfigObject): boolean {
  return (settled === undefined ? "" : protectionOf(settled)) !== protectionOf(newest);
}

/** What protects in an object, with what decides where it applies, as text. Empty: nothing protects. */
function protectionOf(object: ConfigObject): string {
  if (isKind(object, "DestinationRule")) return tlsOf(object);
  return isKind(object, "VirtualService") ? refusalsOf(object) : "";
}

/**
 * The rules that refuse requests or take headers away, with the rules before them: an earlier rule may take requests from
 * a later rule.
 */
function refusalsOf({ spec: { hosts, gateways, exportTo, http = [] } }: ConfigObject<"VirtualService">): string {
  const rules = http.map(({ match, directResponse, fault, headers, route = [] }) => {
    const removed = [headers, ...route.map((one) => one.headers)].map((one) => [
      ...[one?.request?.remove ?? [], one?.response?.remove ?? []],
    ]);
    const status = directResponse?.status ?? 0;
    return {
      ...{ match, status: status >= FIRST_REFUSAL ? status : undefined, abort: fault?.abort },
      removed: removed.flat(2).length > 0 ? removed : undefined,
    };
  });
  const last = rules.findLastIndex(({ status, abort, removed }) => status ?? abort ?? removed);
  return last < 0 ? "" : JSON.stringify({ hosts, gateways, exportTo, rules: rules.slice(0, last + 1) });
}

/** The first HTTP status that refuses a request. */
const FIRST_REFUSAL = 400;

/** The TLS settings of a rule, with what decides where they apply. */
function tlsOf(object: ConfigObject<"DestinationRule">): string {
  const { host, exportTo, workloadSelector, trafficPolicy, subsets = [] } = object.spec;
  const policies = [{ name: "", trafficPolicy }, ...subsets].map(({ name, trafficPolicy: policy }) => ({
    name,
    tls: policy?.tls,
    // Settings of a port replace the policy, TLS settings among them.
    ports: policy?.portLevelSettings?.map(({ port, tls }) => ({ port: port?.number, tls })),
  })).filter(({ tls, ports = [] }) => tls !== undefined || ports.length > 0);
  const isProtecting = policies.some(({ tls, ports = [] }) => tls !== undefined || ports.some((one) => one.tls));
  return isProtecting ? JSON.stringify({ host, exportTo, workloadSelector, policies }) : "";
}

/**
 * Whether a new object takes the place of an object that goes, as after a change of its name. The old object goes from
 * all proxies at once, so the new object goes to all proxies at once: no proxy is without both.
 *
 * @param domain DNS suffix of the mesh, which completes short hosts.
 */
export function takesPlaceOf(newest: ConfigObject, gone: ConfigObject, domain: string): boolean {
  const { namespace } = newest.meta;
  const full = (host: string) => fullHost(host, namespace, domain);
  if (newest.kind !== gone.kind || namespace !== gone.meta.namespace) return false;
  if (isKind(newest, "VirtualService") && isKind(gone, "VirtualService")) {
    const hosts = new Set(gone.spec.hosts?.map(full));
    if (newest.spec.hosts?.some((host) => hosts.has(full(host))) === true) return true;
  }
  if (isKind(newest, "DestinationRule") && isKind(gone, "DestinationRule")) {
    return full(newest.spec.host) === full(gone.spec.host);
  }
  return JSON.stringify(newest.spec) === JSON.stringify(gone.spec);
}
