/**
 * Admission webhooks as HTTP routes.
 *
 * @module
 */
import { bodyText, type HttpRequest, type HttpResponse, textResponse } from "../http/message.ts";
import type { Route } from "../http/route.ts";
import {
  type AdmissionAnswer,
  type AdmissionRequest,
  type ReadReview,
  readReview,
  reviewAnswer,
  shortText,
  unreadAnswer,
  type UnreadReview,
} from "./admission.ts";
import { isLarge, type LargeReviews, ReviewNotSeen } from "./large_reviews.ts";
import type { ReviewSubject } from "./look.ts";
import type { Validation } from "./validation.ts";

/** Longest review, bytes: the API takes requests of 3 MiB, and an update brings the object twice. */
const MAX_REVIEW = 7 * 1024 * 1024;

/** Most characters of the answer to a body that is not a review. */
const MAX_REFUSAL = 2000;

/** A webhook: its answers, and a callback for failed requests. */
export interface Webhook {
  /** What the reviews are about. */
  readonly subject: ReviewSubject;
  /** @param path Path of the request, as the client sent it. */
  readonly answer: (request: AdmissionRequest, path: string) => AdmissionAnswer;
  /** The answer from the verdict on a large review. The request comes without its objects. */
  readonly judged: (request: AdmissionRequest, verdict: Validation) => AdmissionAnswer;
  /** Called when a request is answered without a look at its object, with the HTTP status and the reason. */
  readonly failed: (status: number, reason: string) => void;
  /**
   * The answer to a body that is not a review: an HTTP status, or a refusing review, which the API shows to the user.
   * Default: a status.
   */
  readonly unread?: "status" | "refused";
}

/** The route of a webhook. */
export function webhookRoute(path: string, webhook: Webhook, large: Pick<LargeReviews, "look">): Route {
  const { failed, unread = "status" } = webhook;
  const refuse = (status: number, text: string): HttpResponse => {
    failed(status, text);
    return textResponse(status, `${shortText(text, MAX_REFUSAL)}\n`);
  };
  const refuseUnread = (read: UnreadReview): HttpResponse => {
    if (unread === "status") return refuse(400, read.problems.join("\n"));
    failed(200, read.problems.join("; "));
    return reviewResponse(unreadAnswer(read));
  };
  return {
    methods: ["POST"],
    path,
    maxBody: MAX_REVIEW,
    handle: async (request) => {
      const { headers, body } = request;
      if (body.length === 0) return refuse(400, "the body: got none, expected an AdmissionReview");
      const type = headers["content-type"] ?? "";
      if (!/^application\/json\s*(;|$)/i.test(type)) {
        return refuse(415, `content-type: got ${JSON.stringify(type.slice(0, 100))}, expected application/json`);
      }
      try {
        const answered = isLarge(body) ? await answerLarge(request, webhook, large) : undefined;
        const read = answered ?? answerRead(readReview(bodyText(request)), request.path, webhook);
        return "problems" in read ? refuseUnread(read) : reviewResponse(read.review);
      } catch (error) {
        if (error instanceof ReviewNotSeen) return refuse(503, error.message);
        throw error;
      }
    },
  };
}

type Answered = { readonly review: object } | UnreadReview;

function answerRead(read: ReadReview, path: string, { answer }: Webhook): Answered {
  if ("problems" in read) return read;
  return { review: reviewAnswer(read.apiVersion, read.request, answer(read.request, path)) };
}

/** The answer to a large review; undefined: the review is answered in the main thread. */
async function answerLarge(
  { body, peer, signal }: HttpRequest,
  { subject, judged }: Webhook,
  large: Pick<LargeReviews, "look">,
): Promise<Answered | undefined> {
  const look = await large.look({ subject, body }, peer.address, signal);
  if (look.say === "small") return undefined;
  if (look.say === "unread") return look.read;
  return { review: reviewAnswer(look.apiVersion, look.request, judged(look.request, look.verdict)) };
}

function reviewResponse(review: object): HttpResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(review) };
}
