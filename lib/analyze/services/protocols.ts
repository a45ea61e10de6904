/**
 * ServiceEntries with different protocols for the same port of a host, in namespaces that see both entries. A pair of
 * such entries is a single fact, reported only at the younger entry.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { effectiveExportTo } from "../../mesh/names.ts";
import type { Analyzer } from "../analyzer.ts";
import { type Audience, meets } from "../reader/audience.ts";
import { isBefore } from "../reader/groups.ts";
import type { AnalysisReader } from "../reader/reader.ts";

type EntryObject = ConfigObject<"ServiceEntry">;

/** The most entries compared for a host and port, the oldest first. */
const MOST_COMPARED = 100;

export const ENTRY_PROTOCOLS: Analyzer<"ServiceEntry"> = {
  kind: "ServiceEntry",
  reports: ["entries-differ-in-protocol"],
  analyze: (entry, read, report) => {
    const { hosts, ports = [] } = entry.spec;
    const audience = audienceOf(entry, read);
    for (const [at, { number, protocol = "" }] of ports.entries()) {
      for (const host of hosts) {
        const differs = (other: EntryObject) =>
          isBefore(other, entry) && protocolOf(other, number) !== protocol.toUpperCase() &&
          meets(audienceOf(other, read), audience);
        const sharing = read.withoutSelector("entryPort", `${host.toLowerCase()} ${number}`);
        const other = sharing.slice(0, MOST_COMPARED).find(differs);
        if (other === undefined) continue;
        const name = `${other.meta.namespace}/${other.meta.name}`;
        report("warning", "entries-differ-in-protocol", {
          field: `spec.ports[${at}].protocol`,
          value: protocol,
          expected: `one protocol for port ${number} of ${host} (${name} has ${protocolOf(other, number) || "none"})`,
          others: [other.key],
          effect: `Where both entries are visible, the protocol of ${name} may hold, because it is older.`,
        });
        break;
      }
    }
  },
};

function audienceOf(
  { meta: { namespace }, spec: { exportTo } }: EntryObject,
  { meshConfig }: AnalysisReader,
): Audience {
  return effectiveExportTo(exportTo, namespace, meshConfig.defaultServiceExportTo);
}

function protocolOf({ spec: { ports = [] } }: EntryObject, number: number): string {
  return (ports.find((port) => port.number === number)?.protocol ?? "").toUpperCase();
}
