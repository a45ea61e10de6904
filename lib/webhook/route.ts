/**
 * Admission webhooks as routes: a review comes in, its answer goes out.
 *
 * @module
 */
import { bodyText, type HttpResponse, textResponse } from "../http/message.ts";
import type { Route } from "../http/route.ts";
import { type AdmissionAnswer, type AdmissionRequest, readReview, reviewAnswer } from "./admission.ts";

/** Longest review, bytes: the API takes requests of 3 MiB, and an update brings the object twice. */
export const MAX_REVIEW = 7 * 1024 * 1024;

/** What a webhook does beside its answers. */
export interface WebhookEvents {
  /** A request is answered with an HTTP status and without a review. */
  failed(status: number): void;
}

/** The route of a webhook. */
export function webhookRoute(
  path: string,
  answer: (request: AdmissionRequest) => AdmissionAnswer,
  { failed }: WebhookEvents,
): Route {
  const refuse = (status: number, text: string): HttpResponse => {
    failed(status);
    return textResponse(status, `${text}\n`);
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
      if ("problems" in read) return refuse(400, read.problems.join("\n"));
      const review = reviewAnswer(read.apiVersion, read.request, answer(read.request));
      return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(review) };
    },
  };
}
