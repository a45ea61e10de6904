/**
 * Providers of Telemetries: access logs without any, and providers of a sort that is gone.
 *
 * @module
 */
import type { Analyzer } from "../analyzer.ts";

/** See the module. */
export const TELEMETRY_PROVIDERS: Analyzer<"Telemetry"> = {
  kind: "Telemetry",
  reports: ["no-log-provider"],
  analyze: ({ spec: { accessLogging = [] } }, read, report) => {
    if ((read.meshConfig.defaultProviders.accessLogging?.length ?? 0) > 0) return;
    for (const [at, { providers = [], disabled }] of accessLogging.entries()) {
      if (disabled === true || providers.length > 0) continue;
      report("warning", "no-log-provider", {
        field: `spec.accessLogging[${at}].providers`,
        expected: "a provider (defaultProviders.accessLogging of the mesh configuration has none)",
      });
    }
  },
};
