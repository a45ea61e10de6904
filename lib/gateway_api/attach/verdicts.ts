/**
 * Makes verdicts, and the words that verdicts share.
 *
 * @module
 */
import type { ConditionVerdict, FieldFault } from "./types.ts";

/** Longest message of a condition, as in an API server. */
const LONGEST_MESSAGE = 32_768;

/** A verdict of status True. */
export function holds(reason: string, message = NO_ERRORS): ConditionVerdict {
  return { status: "True", reason, message: bounded(message) };
}

/** A verdict of status False. */
export function fails(reason: string, message: string): ConditionVerdict {
  return { status: "False", reason, message: bounded(message) };
}

const NO_ERRORS = "no fault was found";

/** The message of a condition about a field: the field, its value, and the expectation, as findings say them. */
export function faultText({ field, value, expected }: FieldFault): string {
  return `${field}${value === undefined ? "" : `: ${JSON.stringify(value)}`}, expected ${expected}`;
}

/** The verdict on references without a fault. */
export const ALL_RESOLVED: ConditionVerdict = holds("ResolvedRefs", "all references can be used");

/** The verdict on a Gateway that describes a gateway of another cluster. */
export const REMOTE_PROGRAMMED: ConditionVerdict = holds("Programmed", "the Gateway is served by another cluster");

/** Joins the messages of several faults. Equal messages appear once. */
export function joined(messages: readonly string[]): string {
  return [...new Set(messages)].join("; ");
}

function bounded(message: string): string {
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE - 3)}...`;
}

/** The verdict on a policy that is in force. */
export const IN_FORCE: ConditionVerdict = holds("Accepted", "the policy is in force");
