/**
 * Rules of Telemetry.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import { joinPath } from "../../schema/field.ts";
import { checkAttachment } from "../../validation/shared.ts";
import { checkDuration } from "../../validation/values.ts";
import type { Validate } from "../validate.ts";
import type { MetricsOverride, TelemetrySpec, TelemetryTracing } from "./types.ts";

/** Checks a Telemetry. */
export const validateTelemetry: Validate<TelemetrySpec> = (spec, _meta, report) => {
  checkAttachment(spec, report);
  if ((spec.tracing?.length ?? 0) > 1) {
    report.warning("spec.tracing", spec.tracing?.length, "one entry: the proxy has one tracer");
  }
  spec.tracing?.forEach((tracing, index) => checkTracing(tracing, `spec.tracing[${index}]`, report));
  spec.metrics?.forEach((metrics, index) => {
    checkDuration(metrics.reportingInterval, `spec.metrics[${index}].reportingInterval`, report);
    metrics.overrides?.forEach((override, position) =>
      checkOverride(override, `spec.metrics[${index}].overrides[${position}]`, report)
    );
  });
};

function checkTracing(tracing: TelemetryTracing, at: string, report: Findings): void {
  if ((tracing.providers?.length ?? 0) > 1) {
    report.warning(`${at}.providers`, tracing.providers?.length, "one provider: the proxy has one tracer");
  }
  const sampling = tracing.randomSamplingPercentage ?? 0;
  if (sampling < 0 || sampling > 100) report.error(`${at}.randomSamplingPercentage`, sampling, "a percentage, 0..100");
  for (const [name, tag] of Object.entries(tracing.customTags ?? {})) {
    const where = joinPath(`${at}.customTags`, name);
    if (name === "") report.error(where, name, "a tag with a name");
    if (tag.literal === undefined && tag.environment === undefined && tag.header === undefined) {
      report.warning(where, tag, "literal, environment or header (without it there is no tag)");
    }
  }
}

function checkOverride(override: MetricsOverride, at: string, report: Findings): void {
  if (override.match?.customMetric === "") {
    report.error(`${at}.match.customMetric`, "", "the name of a metric");
  }
  for (const [name, tag] of Object.entries(override.tagOverrides ?? {})) {
    const where = joinPath(`${at}.tagOverrides`, name);
    if (name === "") report.warning(where, name, "a tag with a name");
    if (tag.operation === "UPSERT" && tag.value === undefined) {
      report.error(`${where}.value`, undefined, "an expression (operation UPSERT)");
    }
    if (tag.operation === "REMOVE" && tag.value !== undefined) {
      report.error(`${where}.value`, tag.value, "nothing (operation REMOVE)");
    }
  }
}
