/**
 * Probes the workload of a machine as the proxy's settings say (`readinessProbe`), and reports the workload's health.
 *
 * Permissions: net (the workload), run (`/bin/sh`, for a command).
 *
 * @module
 */
import type { Log } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { EnvoyProcess } from "../envoy/envoy_process.ts";
import type { WorkloadHealth } from "../health/workload_health.ts";
import type { Relay } from "../relay/relay.ts";
import type { AgentInput } from "./agent_input.ts";

/**
 * Begins probing. A workload whose proxy does not serve is unhealthy: clients reach the workload through the proxy.
 * @returns Undefined: there is no probe.
 */
export async function startWorkloadHealth(
  { proxy, workload }: AgentInput,
  envoy: EnvoyProcess,
  relay: Pick<Relay, "reportHealth">,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<WorkloadHealth | undefined> {
  const probe = proxy.readinessProbe;
  if (probe === undefined) return undefined;
  const [{ workloadCheck }, { WorkloadHealth }] = await Promise.all([
    import("../health/readiness_probe.ts"),
    import("../health/workload_health.ts"),
  ]);
  const ofWorkload = workloadCheck(probe, workload.addresses[0]!);
  const health = new WorkloadHealth({
    ...{ probe, clock, log: log.scope("healthcheck"), report: (report) => relay.reportHealth(report) },
    async check(signal) {
      const reason = await envoy.readiness.reason();
      if (reason !== undefined) throw new Error(reason);
      await ofWorkload(signal);
    },
  });
  health.start();
  return health;
}
