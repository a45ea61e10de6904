/**
 * Clients that speak TLS to any server that answers, since no authority is named.
 *
 * @module
 */
import type { ClientTlsSettings } from "../../config/kinds/kinds.ts";
import type { Analyzer } from "../analyzer.ts";

/** See the module. */
export const UNVERIFIED_SERVERS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["unverified-server", "unverified-server-port"],
  analyze: ({ spec: { host, trafficPolicy, workloadSelector } }, _read, report) => {
    const isOpen = (tls: ClientTlsSettings | undefined): tls is ClientTlsSettings =>
      (tls?.mode === "SIMPLE" || tls?.mode === "MUTUAL") && !tls.caCertificates &&
      // Only rules for certain clients have their secrets read.
      !(tls.credentialName && workloadSelector !== undefined);
    const expected = (mode: string) => `authorities that verify ${host} (mode ${mode})`;
    const tls = trafficPolicy?.tls;
    if (isOpen(tls)) {
      report("warning", "unverified-server", {
        field: "spec.trafficPolicy.tls.caCertificates",
        expected: expected(tls.mode),
      });
    }
    for (const [at, one] of (trafficPolicy?.portLevelSettings ?? []).entries()) {
      if (!isOpen(one.tls)) continue;
      report("warning", "unverified-server-port", {
        field: `spec.trafficPolicy.portLevelSettings[${at}].tls.caCertificates`,
        expected: `${expected(one.tls.mode)} at port ${one.port?.number ?? "-"}`,
      });
    }
  },
};
