/**
 * Admission reviews: the question of the orchestrator's API about one object, and the answer.
 *
 * Fields: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 *
 * @module
 */
import { z } from "zod";
import { issueLines } from "../kernel/json/issues.ts";

/** Version of the review that is written where none was read. */
const ADMISSION = "admission.k8s.io/v1";

/** The API sends the version that the webhook's configuration asks for. */
const VERSIONS = [ADMISSION, "admission.k8s.io/v1beta1"] as const;

const word = z.string({ error: "a text" });
const resource = z.object({ group: word, version: word, resource: word }, { error: "group, version and resource" });

const reviewSchema = z.object({
  apiVersion: z.enum(VERSIONS, { error: VERSIONS.join(" or ") }),
  kind: z.literal("AdmissionReview", { error: "AdmissionReview" }),
  request: z.object({
    uid: word,
    resource,
    subResource: word.optional(),
    name: word.optional(),
    namespace: word.optional(),
    operation: word,
    dryRun: z.boolean({ error: "true or false" }).optional(),
    object: z.unknown().optional(),
    oldObject: z.unknown().optional(),
  }, { error: "a request" }),
}, { error: "an AdmissionReview" });

/** What the API asks. `object` is what is to be stored, `oldObject` what is stored; null: there is none. */
export type AdmissionRequest = z.infer<typeof reviewSchema>["request"];

/** A review that was read, or why it was not. */
export type ReadReview =
  | { readonly apiVersion: string; readonly request: AdmissionRequest }
  | { readonly problems: readonly string[] };

/** Reads a review; all problems of its form at once. */
export function readReview(text: string): ReadReview {
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch (error) {
    return { problems: [`the body: expected JSON: ${(error as Error).message}`] };
  }
  const read = reviewSchema.safeParse(tree, { reportInput: true });
  if (!read.success) return { problems: issueLines(read.error.issues, "the body") };
  return read.data;
}

/** One thing that is wrong with an object. */
export interface AdmissionCause {
  /** Path from the object; empty: the object as a whole. */
  readonly field: string;
  readonly message: string;
}

/** What is answered. */
export interface AdmissionAnswer {
  /** None: the object is admitted. */
  readonly causes: readonly AdmissionCause[];
  /** Lines for the user that the object is admitted for, or refused. */
  readonly warnings: readonly string[];
}

/** Characters of one warning that clients show (RFC 7234 header lines are cut by the API server beyond 256). */
const MAX_WARNING = 256;

/** The answer as the API reads it: `kubectl` prints a line a cause. */
export function reviewAnswer(
  apiVersion: string,
  { uid, resource: { group, resource }, name = "" }: AdmissionRequest,
  { causes, warnings }: AdmissionAnswer,
) {
  const response = {
    uid,
    allowed: causes.length === 0,
    ...(warnings.length > 0 && { warnings: warnings.map((text) => text.slice(0, MAX_WARNING)) }),
  };
  const status = causes.length > 0 && {
    status: {
      status: "Failure",
      code: 422,
      reason: "Invalid",
      message: causes.map(({ message }) => message).join("; "),
      details: {
        ...{ name, group, kind: resource },
        causes: causes.map(({ field, message }) => ({ reason: "FieldValueInvalid", field, message })),
      },
    },
  };
  return { apiVersion, kind: "AdmissionReview", response: { ...response, ...status } };
}
