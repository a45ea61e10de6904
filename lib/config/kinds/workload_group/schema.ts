/**
 * Schema of WorkloadGroup.
 *
 * @module
 */
import { labels, map } from "../../schema/containers.ts";
import { type Field, required } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { ownKey } from "../../spelling/spelling.ts";
import { string } from "../../schema/scalars.ts";
import { readinessProbe } from "../common/schema.ts";
import { workloadEntry } from "../workload_entry/schema.ts";
import type { WorkloadGroupSpec } from "./types.ts";

/** Schema of {@link WorkloadGroupSpec}. */
export const workloadGroup: Field<WorkloadGroupSpec> = message<WorkloadGroupSpec>({
  metadata: shape({ labels: labels(), annotations: map(string(), ownKey) }),
  template: required(workloadEntry, "the spec of the workload entries to create"),
  probe: readinessProbe,
});
