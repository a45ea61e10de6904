/**
 * Admission webhooks as routes: a review comes in, its answer goes out.
 *
 * @module
 */
import { bodyText, type HttpResponse, textResponse } from "../http/message.ts";
import type { Route } from "../http/route.ts";
import {
  type AdmissionAnswer,
  type AdmissionRequest,
  readReview,
  reviewAnswer,
  shortText,
  unreadAnswer,
} from "./admission.ts";

/** Longest review, bytes: the API takes requests of 3 MiB, and an update brings the object twice. */
export const MAX_REVIEW = 7 * 1024 * 1024;

/** Characters of the answer to a body that is no review. */
const MAX_REFUSAL = 2000;

/** A webhook: its answers, and the calls that it makes beside them. */
export interface Webhook {
  /** @param path That of the request, as it was sent. */
  readonly answer: (request: AdmissionRequest, path: string) => AdmissionAnswer;
  /** A request is answered without a look at its object: with this HTTP status, for this reason. */
  readonly failed: (status: number, reason: string) => void;
  /**
   * The answer to a body that is no review: a status of HTTP, or a review that refuses, which the API shows the user.
   * Default: a status.
   */
  readonly unread?: "status" | "refused";
}

/** The route of a webhook. */
export function webhookRoute(path: string, { answer, failed, unread = "status" }: Webhook): Route {
  const refuse = (status: number, text: string): HttpResponse => {
    failed(status, text);
    return textResponse(status, `${shortText(text, MAX_REFUSAL)}\n`);
  };
  return {
    methods: ["POST"],
    path,
    maxBody: MAX_REVIEW,
    handle: (request) => {
      const { headers, body } = request;
      if (body.length === 0) return refuse(400, "the body: got none, expected an AdmissionReview");
      const type = headers["content-type"] ?? "";
      if (!/^application\/json\s*(;|$)/i.test(type)) {
        return refuse(415, `content-type: got ${JSON.stringify(type.slice(0, 100))}, expected application/json`);
      }
      const read = readReview(bodyText(request));
      if (!("problems" in read)) {
        return reviewResponse(reviewAnswer(read.apiVersion, read.request, answer(read.request, request.path)));
      }
      if (unread === "status") return refuse(400, read.problems.join("\n"));
      failed(200, read.problems.join("; "));
      return reviewResponse(unreadAnswer(read));
    },
  };
}

function reviewResponse(review: object): HttpResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(review) };
}
