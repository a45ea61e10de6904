/**
 * Schema of WorkloadEntry.
 *
 * @module
 */
import { labels, map } from "../../schema/containers.ts";
import type { Field } from "../../schema/field.ts";
import { message } from "../../schema/message.ts";
import { string, uint32 } from "../../schema/scalars.ts";
import type { WorkloadEntrySpec } from "./types.ts";

/** Schema of {@link WorkloadEntrySpec}. */
export const workloadEntry: Field<WorkloadEntrySpec> = message<WorkloadEntrySpec>({
  address: string(),
  ports: map(uint32()),
  labels: labels(),
  network: string(),
  locality: string(),
  weight: uint32(),
  serviceAccount: string(),
});
