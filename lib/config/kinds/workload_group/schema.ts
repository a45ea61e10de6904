/**
 * WorkloadGroup: a template for WorkloadEntries of workloads that register themselves.
 *
 * @module
 */
import { labels, map } from "../../schema/containers.ts";
import { required } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { ownKey } from "../../spelling/spelling.ts";
import { string } from "../../schema/scalars.ts";
import { readinessProbe } from "../common/schema.ts";
import { workloadEntry } from "../workload_entry/schema.ts";

export const workloadGroup = message({
  /** Metadata of the created entries. */
  metadata: message({
    /** Labels of the workloads. */
    labels: labels(),
    /** Annotations of the workloads. */
    annotations: map(string(), ownKey),
  }),
  /** Spec of the created entries, without address. */
  template: required(workloadEntry, "the spec of the workload entries to create"),
  /** How the agent finds out whether a workload is ready. */
  probe: readinessProbe,
});

/** Spec of a WorkloadGroup. */
export interface WorkloadGroupSpec extends Of<typeof workloadGroup> {}
