/**
 * The sources of an agent's secrets, in the order of asking.
 *
 * Permissions: read (files of secrets and their folders).
 *
 * @module
 */
import type { Log } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { firstSource, type SecretSource } from "../secrets/agent_secret.ts";
import { fileSecrets } from "../secrets/file_secrets.ts";
import type { WorkloadCertificate } from "../secrets/workload_certificate.ts";
import type { AgentInput } from "./agent_input.ts";
import type { SecretPlan } from "./secret_plan.ts";

/**
 * The workload's certificate by the plan, and files from the configuration.
 * @param certificate The authority's certificate. Undefined: the plan has another source.
 */
export function secretSource(
  plan: SecretPlan,
  certificate: WorkloadCertificate | undefined,
  { settings }: AgentInput,
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): SecretSource {
  const files = { debounce: settings.FILE_DEBOUNCE_DURATION, clock, metrics, log: log.scope("cache") };
  return firstSource([
    ...(certificate === undefined ? [] : [certificate]),
    ...(plan.from === "files" ? [fileSecrets(files, (name) => plan.files[name])] : []),
    fileSecrets(files),
  ]);
}
