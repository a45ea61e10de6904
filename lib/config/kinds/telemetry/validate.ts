/**
 * Rules of Telemetry.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { joinPath } from "../../schema/field.ts";
import { celProblem } from "../../validation/cel.ts";
import { checkAttachment } from "../../validation/shared.ts";
import { substitutionProblem } from "../../validation/substitution.ts";
import { checkDuration, isHeaderName } from "../../validation/values.ts";
import type { Validate } from "../validate.ts";
import { metricProblem } from "./metric_names.ts";
import { tagExpression } from "./tag_expression.ts";
import type { MetricSelector, MetricsOverride, TelemetrySpec, TelemetryTracing } from "./schema.ts";

/** Checks a Telemetry. */
export const validateTelemetry: Validate<TelemetrySpec> = (spec, _meta, report) => {
  checkAttachment(spec, report);
  if ((spec.tracing?.length ?? 0) > 1) {
    report.warning("spec.tracing", spec.tracing?.length, "one entry: the proxy has one tracer");
  }
  spec.tracing?.forEach((tracing, index) => checkTracing(tracing, `spec.tracing[${index}]`, report));
  spec.accessLogging?.forEach(({ filter }, index) => {
    const problem = filter?.expression ? celProblem(filter.expression) : undefined;
    if (problem === undefined) return;
    const expected = `an expression of CEL (${problem}); nothing is logged by this entry`;
    report.warning(`spec.accessLogging[${index}].filter.expression`, filter?.expression, expected);
  });
  spec.metrics?.forEach((metrics, index) => {
    const interval = `spec.metrics[${index}].reportingInterval`;
    checkDuration(metrics.reportingInterval, interval, report);
    if (metrics.reportingInterval !== undefined) {
      const expected = "nothing: the bytes of a connection are counted when it ends";
      report.warning(interval, `${metrics.reportingInterval}ms`, expected);
    }
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
    if ([tag.literal, tag.environment, tag.header, tag.formatter].every((one) => one === undefined)) {
      report.warning(where, tag, "literal, environment, header or formatter (without it there is no tag)");
    }
    if (tag.header !== undefined && tag.header.name !== "" && !isHeaderName(tag.header.name)) {
      report.warning(`${where}.header.name`, tag.header.name, "the name of a header (without it there is no tag)");
    }
    const problem = tag.formatter && substitutionProblem(tag.formatter.value, "report");
    if (problem !== undefined) {
      report.warning(`${where}.formatter.value`, tag.formatter?.value, `a text that the proxy can read (${problem})`);
    }
  }
}

function checkOverride(override: MetricsOverride, at: string, report: Findings): void {
  checkMetric(override, `${at}.match`, report);
  for (const [name, tag] of Object.entries(override.tagOverrides ?? {})) {
    const where = joinPath(`${at}.tagOverrides`, name);
    if (name === "") report.warning(where, name, "a tag with a name");
    if (tag.operation === "UPSERT" && tag.value === undefined) {
      report.error(`${where}.value`, undefined, "an expression (operation UPSERT)");
    }
    if (tag.operation === "REMOVE" && tag.value !== undefined) {
      report.error(`${where}.value`, tag.value, "nothing (operation REMOVE)");
    }
    const read = tag.operation === "UPSERT" && tag.value ? tagExpression(tag.value) : {};
    if ("problem" in read) {
      const expected = `an expression of CEL (${read.problem}); the tag is unknown`;
      report.warning(`${where}.value`, tag.value, expected);
    }
  }
}

const ALL_METRICS: MetricSelector = { mode: "CLIENT_AND_SERVER" };

function checkMetric({ match = ALL_METRICS, disabled }: MetricsOverride, at: string, report: Findings): void {
  const { metric, customMetric } = match;
  if (customMetric === "") report.error(`${at}.customMetric`, "", "the name of a metric");
  const name = customMetric ?? (metric === "ALL_METRICS" ? undefined : metric);
  const problem = name ? metricProblem(name, disabled) : undefined;
  if (problem !== undefined) report.warning(`${at}.${customMetric ? "customMetric" : "metric"}`, name, problem);
}
