/**
 * `/debug/explain`: where a request of a connected proxy, or of a pod without a proxy, goes, and which object decided each step.
 *
 * @module
 */
import * as z from "zod";
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { queried, textQuery } from "./query.ts";
import { NotExplained } from "./runners.ts";

const QUERY = z.object({
  from: textQuery("a connected proxy or a pod: namespace/name, its address, or the node id of the proxy"),
  to: textQuery("a URL or host:port"),
  method: textQuery("a method such as GET").default("GET"),
  headers: z.string().default(""),
});

/** The page. `from=shop/cart&to=http://reviews/`, `method=`, and `headers=`, a header on each line. */
export const explainPage = queried(QUERY, async (request: HttpRequest, view, query): Promise<HttpResponse> => {
  if (view.explainer === undefined) {
    return textResponse(501, "this server explains nothing; the program pilot-discovery does\n");
  }
  const headers = query.headers.split(/\r?\n/).filter((line) => line.trim() !== "");
  try {
    return jsonResponse(await view.explainer.explain({ ...query, headers }, view), request);
  } catch (error) {
    if (error instanceof NotExplained) return textResponse(400, `${error.message}\n`);
    throw error;
  }
});
