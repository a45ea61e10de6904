/**
 * The type of the function that validates a kind's spec.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import type { ObjectMeta } from "../types.ts";

/**
 * Checks rules that the schema cannot: rules across fields, syntax of values. Adds all findings to `report`; never
 * throws. The spec may be incomplete where the schema already reported errors (required fields are then empty).
 */
export type Validate<S> = (spec: S, meta: ObjectMeta, report: Findings) => void;
