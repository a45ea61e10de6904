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
    const { servers } = gateway.spec;
    const wanted = servers.map((server, at) => lookForHosts(gateway, server, at, read, report));
    // A host of both has the certificate of both.
    if (wanted.includes(true)) return;
    for (const [at, server] of servers.entries()) lookForCertificate(gateway, server, at, read, report);
  },
};

/** Whether another Gateway has a host of a server. */
function lookForHosts(
  gateway: GatewayObject,
  server: GatewayServerSpec,
  at: number,
  read: AnalysisReader,
  report: ReportMistake,
): boolean {
  // Plain HTTP servers of one host are merged; of those with TLS the first is served.
  const isTls = ["HTTPS", "TLS"].includes(server.port.protocol.toUpperCase());
  // Every Ingress has such a server for every host: nobody wrote that, and all of them are served.
  if (gateway.origin.from === "derived" && !isTls) return false;
  for (const [index, written] of server.hosts.entries()) {
    const host = hostOfServer(written);
    const place = `${server.port.number} ${host}`;
    const other = read.oldestSharing(
      "gatewayPlace",
      place,
      gateway.spec.selector ?? {},
      (one) => isOfOneWorkload(gateway, one, read) && serves(one, server, host),
    );
    if (other === undefined) continue;
    const name = `${other.meta.namespace}/${other.meta.name}`;
    const isYounger = isBefore(other, gateway);
    const older = isYounger ? name : "this one";
    report(isYounger && isTls ? "error" : "warning", "gateways-of-one-host", {
      field: `spec.servers[${at}].hosts[${index}]`,
      value: written,
      expected: `a host that no other Gateway of the workload has on port ${server.port.number} (${name} has it)`,
      others: [other.key],
      effect: isTls
        ? `Only ${older} is served there: it is older.`
        : `Routes of both are served; of two for the same requests that of ${older} decides, the older one.`,
    });
    return true;
  }
  return false;
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
  read: AnalysisReader,
  report: ReportMistake,
): void {
  if (!tls?.credentialName) return;
  const { selector = {} } = gateway.spec;
  const other = read.oldestSharing("gatewayCredential", tls.credentialName, selector, (one) =>
    // A workload of this one need not be one of the other.
    isOfOneWorkload(gateway, one, read) && carries(one.spec.selector ?? {}, selector) &&
    one.spec.servers.some((its) => its.tls?.credentialName === tls.credentialName && its.port.number === port.number));
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
