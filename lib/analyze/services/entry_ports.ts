/**
 * Ports of ServiceEntries that are not served because of an older entry of the namespace with the host. The older entry
 * has the port with another resolution, or is exported to other namespaces.
 *
 * @module
 */
import { entryResolution } from "../../registry/service_entry/resolution.ts";
import { resolutionOf } from "../../registry/types.ts";
import type { Analyzer } from "../analyzer.ts";

export const ENTRY_PORTS: Analyzer<"ServiceEntry"> = {
  kind: "ServiceEntry",
  reports: ["entry-port-not-served"],
  analyze: ({ key, meta: { namespace }, spec: { hosts, ports = [], resolution: written } }, read, report) => {
    const resolution = entryResolution(written);
    for (const host of hosts.map((one) => one.toLowerCase())) {
      const service = read.servicesOf(host).find((one) => one.namespace === namespace && one.provider === "External");
      if (service === undefined || service.cause === key) continue;
      for (const [at, { number }] of ports.entries()) {
        const port = service.ports.find((one) => one.port === number);
        if (port !== undefined && resolutionOf(service, port) === resolution) continue;
        const [, ...name] = service.cause.split("/");
        const expected = port === undefined
          ? `the exportTo of ${name.join("/")}, which has ${host} already and is older`
          : `a port that no older entry of ${host} has with another resolution (${name.join("/")} is older)`;
        report("warning", "entry-port-not-served", {
          field: `spec.ports[${at}].number`,
          value: number,
          expected,
          others: [service.cause],
          ...(port === undefined ? {} : { effect: "Its endpoints get no connections to this port." }),
        });
      }
    }
  },
};
