/**
 * Admission webhooks as routes: a review comes in, its answer goes out.
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
export const MAX_REVIEW = 7 * 1024 * 1024;

/** Characters of the answer to a body that is no review. */
const MAX_REFUSAL = 2000;

/** A webhook: its answers, and the calls that it makes beside them. */
export interface Webhook {
  /** Of what the reviews are. */
  readonly subject: ReviewSubject;
  /** @param path That of the request, as it was sent. */
  readonly answer: (request: AdmissionRequest, path: string) => AdmissionAnswer;
  /** The answer where the verdict on a large review is known; the request is without its objects. */
  readonly judged: (request: AdmissionRequest, verdict: Validation) => AdmissionAnswer;
  /** A request is answered without a look at its object: with this HTTP status, for this reason. */
  readonly failed: (status: number, reason: string) => void;
  /**
   * The answer to a body that is no review: a status of HTTP, or a review that refuses, which the API shows the user.
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

/** What the look at a large review gave; undefined: it is to be answered as others. */
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
