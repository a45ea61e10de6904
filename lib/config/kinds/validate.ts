/**
 * The type of the function that validates a kind's spec.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import type { ObjectMeta } from "../types.ts";

/**
 * Checks the rules beyond the schema: rules across fields, syntax of values. Adds all findings to `report`; never
 * throws. After errors of the schema the spec may be incomplete (required fields are then empty).
 */
export type Validate<S> = (spec: S, meta: ObjectMeta, report: Findings) => void;
