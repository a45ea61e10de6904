/**
 * Rules of WorkloadGroup.
 *
 * @module
 */
import { checkLabels } from "../../validation/names.ts";
import { checkProbe } from "../../validation/shared.ts";
import type { Validate } from "../validate.ts";
import type { WorkloadGroupSpec } from "./schema.ts";

/** Checks a WorkloadGroup. The template is not a whole workload: the address is filled in later. */
export const validateWorkloadGroup: Validate<WorkloadGroupSpec> = (spec, _meta, report) => {
  checkLabels(spec.metadata?.labels, "spec.metadata.labels", report);
  checkLabels(spec.template.labels, "spec.template.labels", report);
  checkProbe(spec.probe, "spec.probe", report);
};
