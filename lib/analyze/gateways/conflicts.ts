/**
 * Gateways of the same workload with the same host on a port, or with the same certificate for different hosts. A pair
 * of such Gateways is a single fact, reported only at the younger Gateway.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { WorkloadFact } from "../../config/facts/view.ts";
import type { GatewayServerSpec } from "../../config/kinds/gateway/schema.ts";
import { gatewaySelectors, gatewaySelects } from "../../config/kinds/gateway/workloads.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { protocolClass } from "../../config/validation/network.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { hostOfServer, isBefore } from "../reader/groups.ts";
import type { AnalysisReader } from "../reader/reader.ts";

type GatewayObject = ConfigObject<"Gateway">;

export const GATEWAY_CONFLICTS: Analyzer<"Gateway"> = {
  kind: "Gateway",
  reports: ["gateways-of-one-host", "certificate-of-several-gateways"],
  analyze: (gateway, read, report) => {
    const { servers } = gateway.spec;
    const rivals = new Rivals(gateway, read);
    const wanted = servers.map((server, at) => lookForHosts(rivals, server, at, report));
    // A host of both has the certificate of both.
    if (wanted.includes(true)) return;
    for (const [at, server] of servers.entries()) lookForCertificate(gateway, server, at, read, report);
  },
};

/**
 * The other Gateways of a Gateway's workloads. Selectors alone may show that two Gateways share workloads, or a known
 * workload may.
 */
class Rivals {
  readonly gateway: GatewayObject;
  readonly #read: AnalysisReader;
  #workloads: readonly WorkloadFact[] | undefined;

  constructor(gateway: GatewayObject, read: AnalysisReader) {
    this.gateway = gateway;
    this.#read = read;
  }

  /**
   * The oldest Gateway with a host of a server, and the shared host; undefined: no other Gateway has a host of the
   * server.
   */
  ofHost(
    server: GatewayServerSpec,
    host: string,
  ): { readonly other: GatewayObject; readonly which: string } | undefined {
    const { gateway } = this;
    const read = this.#read;
    const place = `${server.port.number} ${host}`;
    const byWords = read.oldestSharing(
      "gatewayPlace",
      place,
      gatewaySelectors(gateway),
      (one) => isOfOneWorkload(gateway, one, read) && serves(one, server, host),
    );
    if (byWords !== undefined) return { other: byWords, which: "has it" };
    for (const { kind, meta, spec: { labels } } of this.#workloads ??= workloadsOf(gateway, read)) {
      const known = read.oldestSharing(
        "gatewayPlace",
        place,
        [labels],
        (one) => mayShare(gateway, one, read) && gatewaySelects(one, labels) && serves(one, server, host),
      );
      if (known !== undefined) {
        return { other: known, which: `has it, and ${kind} ${meta.namespace}/${meta.name} serves both` };
      }
    }
  }
}

/**
 * The known workloads of a Gateway, one of each set of labels. A Gateway without a selector selects every workload by
 * its text alone.
 */
function workloadsOf(gateway: GatewayObject, read: AnalysisReader): readonly WorkloadFact[] {
  if (Object.keys(gateway.spec.selector ?? {}).length === 0 || read.isListUnknown("workloads")) return [];
  const namespaces = read.gatewaysServeOwnNamespace || gateway.spec.internal !== undefined
    ? [gateway.meta.namespace]
    : read.namespaceNames();
  const found = new Map<string, WorkloadFact>();
  for (const namespace of namespaces) {
    for (const workload of read.gatewayWorkloads(gateway, namespace)) {
      const labels = JSON.stringify(Object.entries(workload.spec.labels).sort());
      if (!found.has(labels)) found.set(labels, workload);
    }
  }
  return [...found.values()].slice(0, MAX_WORKLOADS);
}

/** The most sets of labels looked at for a Gateway's workloads. Real Gateways have a few. */
const MAX_WORKLOADS = 20;

/** Whether another Gateway has a host of a server. */
function lookForHosts(rivals: Rivals, server: GatewayServerSpec, at: number, report: ReportMistake): boolean {
  const { gateway } = rivals;
  if (isImplied(gateway, server)) return false;
  let isShared = false;
  for (const [index, written] of server.hosts.entries()) {
    const found = rivals.ofHost(server, hostOfServer(written));
    if (found === undefined) continue;
    const { other, which } = found;
    isShared = true;
    if (!isBefore(other, gateway)) continue;
    const name = `${other.meta.namespace}/${other.meta.name}`;
    const isMerged = isHttp(server) && other.spec.servers.some((one) => isHttp(one) && isAt(one, server));
    report(isMerged ? "warning" : "error", "gateways-of-one-host", {
      field: `spec.servers[${at}].hosts[${index}]`,
      value: written,
      expected: `a host that no other Gateway of the workload has on port ${server.port.number} (${name} ${which})`,
      others: [other.key],
      effect: isMerged
        ? `The routes of both Gateways are served. Where two routes match, the route of the older Gateway ${name} decides.`
        : `Only ${name} is served there: it is older.`,
    });
    break;
  }
  return isShared;
}

/** Whether a gateway has the host on the same port and address. */
function serves(gateway: GatewayObject, server: GatewayServerSpec, host: string): boolean {
  return gateway.spec.servers.some((one) =>
    isAt(one, server) && !isImplied(gateway, one) && one.hosts.some((own) => hostOfServer(own) === host)
  );
}

function isAt(one: GatewayServerSpec, other: GatewayServerSpec): boolean {
  return one.port.number === other.port.number && (one.bind ?? "") === (other.bind ?? "");
}

/** Plain HTTP servers of the same host are merged. Of other servers the first is served. */
function isHttp({ port }: GatewayServerSpec): boolean {
  return protocolClass(port.protocol) === "http";
}

/**
 * Whether nobody wrote the server: every Ingress has a server for plain requests to every host, and all of these
 * servers are served.
 */
function isImplied({ origin }: GatewayObject, server: GatewayServerSpec): boolean {
  return origin.from === "derived" && !hasTls(server);
}

function hasTls({ port }: GatewayServerSpec): boolean {
  return ["HTTPS", "TLS"].includes(port.protocol.toUpperCase());
}

function lookForCertificate(
  gateway: GatewayObject,
  { tls, port }: GatewayServerSpec,
  at: number,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  if (!tls?.credentialName) return;
  const selectors = gatewaySelectors(gateway);
  const isReportedThere = (one: GatewayObject) => isBefore(gateway, one) && isWithin(selectors, gatewaySelectors(one));
  const other = read.oldestSharing("gatewayCredential", tls.credentialName, selectors, (one) =>
    // A workload of this Gateway may be missing from the other Gateway.
    isOfOneWorkload(gateway, one, read) && isWithin(gatewaySelectors(one), selectors) && !isReportedThere(one) &&
    one.spec.servers.some((its) => its.tls?.credentialName === tls.credentialName && its.port.number === port.number));
  if (other === undefined) return;
  report("warning", "certificate-of-several-gateways", {
    field: `spec.servers[${at}].tls.credentialName`,
    value: tls.credentialName,
    expected: `a certificate that no other Gateway has (${other.meta.namespace}/${other.meta.name} has it)`,
    others: [other.key],
  });
}

/** Whether either of two Gateways selects all workloads of the other. */
function isOfOneWorkload(a: GatewayObject, b: GatewayObject, read: AnalysisReader): boolean {
  if (!mayShare(a, b, read)) return false;
  const [one, two] = [gatewaySelectors(a), gatewaySelectors(b)];
  return isWithin(one, two) || isWithin(two, one);
}

/** Whether a workload may serve both Gateways. */
function mayShare(a: GatewayObject, b: GatewayObject, read: AnalysisReader): boolean {
  const isLocal = read.gatewaysServeOwnNamespace || a.spec.internal !== undefined || b.spec.internal !== undefined;
  return a.key !== b.key && (!isLocal || a.meta.namespace === b.meta.namespace);
}

/** Whether every workload of the inner selectors is also a workload of the outer selectors. */
function isWithin(inner: readonly StringMap[], outer: readonly StringMap[]): boolean {
  return inner.some((labels) => outer.some((wanted) => carriesLabels(labels, wanted)));
}
