/**
 * The words of a rejection that people are shown.
 *
 * @module
 */
import type { RecentTexts } from "./recent_texts.ts";
import type { AdsRequest } from "./request.ts";

/** How Envoy begins the text of a message that it puts before its reason: hundreds of lines for one cluster. */
const DUMP = "goo.gle/debug";
/** What ends that text. */
const REASON = "\n: ";

/** A client's words without the message that it rejects. The resource is known by its name, which is said beside. */
export function readableWords(text: string): string {
  const from = text.indexOf(DUMP);
  const to = text.lastIndexOf(REASON);
  return from < 0 || to < from ? text : text.slice(0, from) + text.slice(to + REASON.length);
}

/** A request with words for people in its rejection. @param texts Keeps equal words once */
export function withReadableWords(request: AdsRequest, texts: RecentTexts): AdsRequest {
  const { error } = request;
  if (error === undefined) return request;
  return { ...request, error: { ...error, message: texts.unique(readableWords(error.message)) } };
}
