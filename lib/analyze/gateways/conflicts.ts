/**
 * Gateways of one workload that want the same host of a port, or serve other hosts with one certificate.
 *
 * @module
 */
import type { GatewayServerSpec } from "../../config/kinds/gateway/types.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { hostOfServer, isBefore } from "../reader/groups.ts";
import type { AnalysisReader } from "../reader/reader.ts";

type GatewayObject = ConfigObject<"Gateway">;

/** See the module. */
export const GATEWAY_CONFLICTS: Analyzer<"Gateway"> = {
  kind: "Gateway",
  reports: ["gateways-of-one-host", "certificate-of-several-gateways"],
  analyze: (gateway, read, report) => {
    const conflicting = new Set<string>();
    for (const [at, server] of gateway.spec.servers.entries()) {
      lookForHosts(gateway, server, at, conflicting, read, report);
    }
    for (const [at, server] of gateway.spec.servers.entries()) {
      lookForCertificate(gateway, server, at, conflicting, read, report);
    }
  },
};

function lookForHosts(
  gateway: GatewayObject,
  server: GatewayServerSpec,
  at: number,
  conflicting: Set<string>,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  for (const [index, written] of server.hosts.entries()) {
    const host = hostOfServer(written);
    const others = read.sharing("gatewayPlace", `${server.port.number} ${host}`, gateway.spec.selector ?? {})
      .filter((other) => isOfOneWorkload(gateway, other, read) && serves(other, server, host));
    const other = others.sort((a, b) => isBefore(a, b) ? -1 : 1)[0];
    if (other === undefined) continue;
    for (const { key } of others) conflicting.add(key);
    const name = `${other.meta.namespace}/${other.meta.name}`;
    const isYounger = isBefore(other, gateway);
    const older = isYounger ? name : "this one";
    // Plain HTTP servers of one host are merged; of those with TLS the first is served.
    const isTls = ["HTTPS", "TLS"].includes(server.port.protocol.toUpperCase());
    report(isYounger && isTls ? "error" : "warning", "gateways-of-one-host", {
      field: `spec.servers[${at}].hosts[${index}]`,
      value: written,
      expected: `a host that no other Gateway of the workload has on port ${server.port.number} (${name} has it)`,
      others: [other.key],
      effect: isTls
        ? `Only ${older} is served there: it is older.`
        : `Routes of both are served; of two for the same requests that of ${older} decides, the older one.`,
    });
    return;
  }
}

/** Whether a gateway has the host on the same port and address. */
function serves({ spec: { servers } }: GatewayObject, { port, bind = "" }: GatewayServerSpec, host: string): boolean {
  return servers.some((one) =>
    one.port.number === port.number && (one.bind ?? "") === bind && one.hosts.some((own) => hostOfServer(own) === host)
  );
}

function lookForCertificate(
  gateway: GatewayObject,
  { tls, port }: GatewayServerSpec,
  at: number,
  conflicting: ReadonlySet<string>,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  if (!tls?.credentialName) return;
  const { selector = {} } = gateway.spec;
  const others = read.sharing("gatewayCredential", tls.credentialName, selector).filter((other) =>
    // A workload of this one need not be one of the other.
    !conflicting.has(other.key) && isOfOneWorkload(gateway, other, read) &&
    carries(other.spec.selector ?? {}, selector) &&
    other.spec.servers.some((one) => one.tls?.credentialName === tls.credentialName && one.port.number === port.number)
  );
  const other = others.sort((a, b) => isBefore(a, b) ? -1 : 1)[0];
  if (other === undefined) return;
  report("warning", "certificate-of-several-gateways", {
    field: `spec.servers[${at}].tls.credentialName`,
    value: tls.credentialName,
    expected: `a certificate that no other Gateway has (${other.meta.namespace}/${other.meta.name} has it)`,
    others: [other.key],
  });
}

/** Whether what one of two selects is all that the other one selects, and more. */
function isOfOneWorkload(a: GatewayObject, b: GatewayObject, read: AnalysisReader): boolean {
  if (a.key === b.key || (read.gatewaysServeOwnNamespace && a.meta.namespace !== b.meta.namespace)) return false;
  const [one, two] = [a.spec.selector ?? {}, b.spec.selector ?? {}];
  return carries(one, two) || carries(two, one);
}

function carries(labels: StringMap, wanted: StringMap): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
