/**
 * The webhooks that the orchestrator's API asks, as routes.
 *
 * @module
 */
import type { Route } from "../http/route.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { AdmissionAnswer, AdmissionRequest } from "../webhook/admission.ts";
import { webhookRoute } from "../webhook/route.ts";
import { validate } from "../webhook/validation.ts";

/** Path of the validating webhook. */
const VALIDATE = "/validate";

/** The routes of all webhooks. */
export function webhookRoutes({ log, metrics }: Pick<Kernel, "log" | "metrics">): Route[] {
  const server = log.scope("validationServer");
  const failed = (status: number) => {
    metrics.counter("galley_validation_http_error").inc({ status: String(status) });
    server.debug("a request was no review", { status });
  };
  const answer = (request: AdmissionRequest): AdmissionAnswer => {
    const verdict = validate(request);
    const { resource: { group, version, resource }, namespace = "", name = "" } = request;
    const labels = { group: shortLabel(group), version: shortLabel(version), resource: shortLabel(resource) };
    if (verdict.failure === undefined) {
      metrics.counter("galley_validation_passed").inc(labels);
      return verdict;
    }
    metrics.counter("galley_validation_failed").inc({ ...labels, reason: verdict.failure });
    const causes = verdict.causes.map(({ message }) => message);
    server.info("an object is refused", { ...labels, namespace, name, reason: verdict.failure, causes });
    return verdict;
  };
  return [webhookRoute(VALIDATE, answer, { failed })];
}

/** A label of a metric is as long as names of the API are at most. */
function shortLabel(text: string): string {
  return text.slice(0, 253);
}
