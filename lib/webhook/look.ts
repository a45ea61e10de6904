/**
 * The work on a large review in the worker's thread. All work whose cost grows with the text is done here. The result
 * is small, and therefore cheap to pass between threads.
 *
 * @module
 */
import { treeProblems } from "../injection/pod_size.ts";
import { type AdmissionRequest, readReview, type UnreadReview } from "./admission.ts";
import { validate, type Validation } from "./validation.ts";

/** The sort of checked object. */
export type ReviewSubject = "object" | "pod";

/** The result of checking a large review. */
export type ReviewLook =
  /** The text is not a review. */
  | { readonly say: "unread"; readonly read: UnreadReview }
  /** The verdict on the object. The request comes without its objects. */
  | {
    readonly say: "judged";
    readonly apiVersion: string;
    readonly request: AdmissionRequest;
    readonly verdict: Validation;
  }
  /** The review is long but has few values: reading the review again in the main thread is cheap. */
  | { readonly say: "small" };

/** Checks the text of a review: validates an object, or checks a pod's number of values against the limit. */
export function lookAtReview(subject: ReviewSubject, text: string): ReviewLook {
  const read = readReview(text);
  if ("problems" in read) return { say: "unread", read };
  const { apiVersion, request } = read;
  const { object: _, oldObject: __, ...small } = request;
  if (subject === "object") return { say: "judged", apiVersion, request: small, verdict: validate(request) };
  const problems = treeProblems(request);
  if (problems.length === 0) return { say: "small" };
  const causes = problems.map((message) => ({ field: "", message }));
  return {
    ...{ say: "judged", apiVersion, request: small },
    verdict: { causes, warnings: [], failure: "invalid_resource" },
  };
}
