/**
 * What is done with a review that is too large for the server's own thread: all work that grows with its text. What comes
 * of it is small, so that it costs little to take it from one thread to the other.
 *
 * @module
 */
import { treeProblems } from "../injection/pod_size.ts";
import { type AdmissionRequest, readReview, type UnreadReview } from "./admission.ts";
import { validate, type Validation } from "./validation.ts";

/** Which webhook is asked. */
export type ReviewSubject = "object" | "pod";

/** What came of a look at a large review. */
export type ReviewLook =
  /** It is no review. */
  | { readonly say: "unread"; readonly read: UnreadReview }
  /** The verdict on its object; the request is without its objects. */
  | {
    readonly say: "judged";
    readonly apiVersion: string;
    readonly request: AdmissionRequest;
    readonly verdict: Validation;
  }
  /** It is long, and yet of few values: reading it again costs little. */
  | { readonly say: "small" };

/** Looks at the text of a review: validates the object, or holds the values of a pod against their limit. */
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
