/**
 * Requests that change the running server: POST and PUT, never GET. Links, images and prefetching browsers send GET.
 *
 * @module
 */
import type { HttpRequest, HttpResponse, RequestHead } from "../http/message.ts";
import { methodResponse } from "../http/router.ts";

/** The shell command to send a request as a change. */
export function changeCommand({ host, path, query }: RequestHead): string {
  const text = query.toString();
  return `to change it: curl -X POST 'http://${host}${path}${text === "" ? "" : `?${text}`}'`;
}

/** The response to a GET that asks for a change. */
export function refuseChange(request: HttpRequest): HttpResponse {
  return methodResponse(request, [{ methods: ["POST"], command: changeCommand }]);
}
