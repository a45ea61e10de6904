/**
 * ServiceEntries without an address, whose TCP connections cannot be told from other connections.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

export const REQUIRED_ADDRESSES: Analyzer<"ServiceEntry"> = {
  kind: "ServiceEntry",
  reports: ["address-required"],
  analyze: (object, read, report) => {
    const { addresses = [], ports = [] } = object.spec;
    if (addresses.length > 0 || allocatesAddress(object, read)) return;
    for (const [at, { protocol = "", number }] of ports.entries()) {
      if (protocol !== "" && protocol.toUpperCase() !== "TCP") continue;
      report("warning", "address-required", {
        field: `spec.ports[${at}]`,
        value: number,
        expected: "addresses in a service with a TCP port",
      });
    }
  },
};

/**
 * Whether proxies get an automatic address for the entry: the proxies must ask for an address, and the entry must allow
 * automatic addresses.
 */
function allocatesAddress({ spec, meta }: ConfigObject<"ServiceEntry">, { meshConfig }: AnalysisReader): boolean {
  const { proxyMetadata } = meshConfig.defaultConfig;
  return proxyMetadata["MESH_META_DNS_CAPTURE"] === "true" && proxyMetadata["MESH_META_DNS_AUTO_ALLOCATE"] === "true" &&
    spec.resolution !== "NONE" &&
    meta.labels["networking.mesh.io/enable-autoallocate-ip"]?.toLowerCase() !== "false";
}
