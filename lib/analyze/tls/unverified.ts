/**
 * Clients that speak TLS to any server, because a rule turns off the verification of the server's certificate. A rule
 * without authorities keeps the verification: the authorities of the proxy's system verify the server.
 *
 * @module
 */
import type { ClientTlsSettings } from "../../config/kinds/kinds.ts";
import type { Analyzer } from "../analyzer.ts";

export const UNVERIFIED_SERVERS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["unverified-server", "unverified-server-port"],
  analyze: ({ spec: { host, trafficPolicy } }, _read, report) => {
    const isOpen = (tls: ClientTlsSettings | undefined): tls is ClientTlsSettings =>
      (tls?.mode === "SIMPLE" || tls?.mode === "MUTUAL") && tls.insecureSkipVerify === true;
    const expected = (mode: string) => `false: authorities that verify ${host} (mode ${mode})`;
    const tls = trafficPolicy?.tls;
    if (isOpen(tls)) {
      report("warning", "unverified-server", {
        field: "spec.trafficPolicy.tls.insecureSkipVerify",
        value: true,
        expected: expected(tls.mode),
      });
    }
    for (const [at, one] of (trafficPolicy?.portLevelSettings ?? []).entries()) {
      if (!isOpen(one.tls)) continue;
      report("warning", "unverified-server-port", {
        field: `spec.trafficPolicy.portLevelSettings[${at}].tls.insecureSkipVerify`,
        value: true,
        expected: `${expected(one.tls.mode)} at port ${one.port?.number ?? "-"}`,
      });
    }
  },
};
