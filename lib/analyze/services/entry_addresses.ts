/**
 * Addresses of WorkloadEntries that a selecting ServiceEntry cannot use. A host name needs a resolution that resolves
 * names; a Unix socket needs a resolution that does not.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { ConfigObject } from "../../config/types.ts";
import { isIp, isUnixSocket } from "../../registry/address.ts";
import { entryResolution, resolvesNames } from "../../registry/service_entry/resolution.ts";
import type { Analyzer } from "../analyzer.ts";

export const ENTRY_ADDRESSES: Analyzer<"WorkloadEntry"> = {
  kind: "WorkloadEntry",
  reports: ["unusable-address"],
  analyze: ({ meta, spec }, read, report) => {
    const { address = "" } = spec;
    if (address === "" || isIp(address)) return;
    const labels: Readonly<Record<string, string>> = { ...meta.labels, ...spec.labels };
    const selects = ({ spec: { workloadSelector } }: ConfigObject<"ServiceEntry">) =>
      workloadSelector !== undefined &&
      carriesLabels(labels, workloadSelector.labels ?? {});
    const isSocket = isUnixSocket(address);
    for (const entry of read.objectsIn("ServiceEntry", meta.namespace)) {
      if (!selects(entry) || isSocket !== resolvesNames(entryResolution(entry.spec.resolution))) continue;
      const { namespace, name } = entry.meta;
      return report("warning", "unusable-address", {
        field: "spec.address",
        value: address,
        expected: isSocket
          ? `an address that is resolved, as ServiceEntry ${namespace}/${name}, which selects it, has resolution DNS`
          : `an IP address, as ServiceEntry ${namespace}/${name}, which selects it, resolves no names`,
        others: [entry.key],
      });
    }
  },
};
