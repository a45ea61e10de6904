/**
 * When the authority's certificates expire, as metrics.
 *
 * @module
 */
import type { Metrics } from "../kernel/metrics/registry.ts";
import type { Clock } from "../kernel/time/clock.ts";
import type { Current } from "../pki/current.ts";
import { type SigningMaterial, validityFault } from "./material.ts";

/** Computes the `citadel_server_*` gauges at each scrape. */
export function measureExpiry(
  metrics: Metrics,
  material: Current<SigningMaterial | undefined>,
  clock: Pick<Clock, "now">,
): void {
  metrics.onScrape(() => {
    const now = material.current();
    // Without certificates there is no expiry: the value is not a number, so that no alarm fires.
    const root = now === undefined ? NaN : Math.min(...now.roots.map(({ notAfter }) => notAfter));
    const chain = now?.notAfter ?? NaN;
    const isValid = now !== undefined && validityFault(now, clock.now()) === undefined;
    metrics.gauge("mesh_certificate_valid").set(now === undefined ? NaN : isValid ? 1 : 0);
    const seconds = (end: number) => Math.round((end - clock.now()) / 1000);
    metrics.gauge("citadel_server_root_cert_expiry_seconds").set(seconds(root));
    metrics.gauge("citadel_server_root_cert_expiry_timestamp").set(Math.round(root / 1000));
    metrics.gauge("citadel_server_cert_chain_expiry_seconds").set(seconds(chain));
    metrics.gauge("citadel_server_cert_chain_expiry_timestamp").set(Math.round(chain / 1000));
  });
}
