/**
 * `/debug/preview`: the effect of other configuration on the connected proxies, without applying the configuration.
 *
 * The answer is computed elsewhere (`PreviewRunner`), one answer at a time, so no push waits for a preview.
 *
 * @module
 */
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { PreviewFailed } from "./runners.ts";
import type { DebugView } from "./view.ts";

/** Longest body: the texts of a large folder. */
export const MAX_PREVIEW_BODY = 32 * 1024 * 1024;

/**
 * The page. The body is JSON. `files` has texts by path relative to the folder. These texts replace the whole content
 * of the folder. `nodes` narrows the proxies. `reversed` asks for the opposite change, from these files to the
 * configuration in force.
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
