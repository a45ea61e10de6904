/**
 * What stands in a report for a credential.
 *
 * @module
 */

/** Stands for what was taken out. */
export const HIDDEN = "[redacted]";
