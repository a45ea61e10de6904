/**
 * The routes of every program for scrapers: metrics and version.
 *
 * @module
 */
import { buildInfo } from "../kernel/program/build_info.ts";
import type { Metrics } from "../kernel/metrics/registry.ts";
import { localOnly } from "./local_only.ts";
import { textResponse } from "./message.ts";
import { guardOwnNames } from "./own_names.ts";
import type { Route } from "./route.ts";

/** Decides which clients may read metrics. */
export interface MonitoringOptions {
  /** `METRICS_LOCALHOST_ACCESS_ONLY`: only clients of this machine. */
  readonly localOnly: boolean;
  /** Names of this server beside addresses and localhost, for `localOnly`. */
  readonly names: readonly string[];
}

/** `/metrics` and `/version`. */
export function monitoringRoutes(metrics: Metrics, options: MonitoringOptions): Route[] {
  return [
    {
      methods: ["GET"],
      path: "/metrics",
      // A browser of this machine is a local client, even for a page of a foreign site.
      guards: options.localOnly ? [localOnly, guardOwnNames(options.names)] : [],
      handle: async () => {
        const { contentType, body } = await metrics.scrape();
        return { status: 200, headers: { "content-type": contentType }, body };
      },
    },
    {
      methods: ["GET"],
      path: "/version",
      handle: () => {
        const { version, revision, status } = buildInfo();
        return textResponse(200, `${version}-${revision}-${status}\n`);
      },
    },
  ];
}
