/**
 * `/debug/preview`: the effect that other configuration would have on the connected proxies, before it is applied.
 *
 * The answer is computed elsewhere (`PreviewRunner`), so that no push waits for it, one at a time.
 *
 * @module
 */
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { PreviewFailed } from "./runners.ts";
import type { DebugView } from "./view.ts";

/** Longest body: the texts of a large folder. */
export const MAX_PREVIEW_BODY = 32 * 1024 * 1024;

/**
 * The page. The body is JSON: `files`, texts by path relative to the folder, which take the place of all that the folder
 * holds; `nodes` narrows the proxies; `reversed` asks for the way back, from these files to the configuration in force.
 */
export async function preview(request: HttpRequest, view: DebugView): Promise<HttpResponse> {
  const { preview: runner } = view;
  if (runner === undefined) return textResponse(501, "this server has no previews; the program pilot-discovery has\n");
  if (runner.busy) {
    const refused = textResponse(429, "another preview is being answered, expected one at a time; try again\n");
    return { ...refused, headers: { ...refused.headers, "retry-after": "5" } };
  }
  try {
    return jsonResponse(await runner.run(request.body, view, request.signal), request);
  } catch (error) {
    if (!(error instanceof PreviewFailed)) throw error;
    return textResponse(error.status, `${error.message}\n`);
  }
}
