/**
 * The page about injection.
 *
 * @module
 */
import { type HttpRequest, type HttpResponse, jsonResponse } from "../http/message.ts";
import type { DebugView } from "./view.ts";

/** Listed pods. The others are only counted. */
const MAX_MISSED = 1000;

/** `/debug/inject`: configuration, its problems, and the pods without the proxy that they should have. */
export function inject(request: HttpRequest, { injection }: DebugView): HttpResponse {
  if (injection === undefined) {
    const problems = ["this server injects nothing: INJECT_ENABLED is false, or it serves no webhooks"];
    return jsonResponse({ place: "", problems, missed: [], missedInAll: 0 }, request);
  }
  const { configuration: { place = "", config, values, problems } } = injection;
  const missed = [...injection.missed()];
  const shown = { place, problems, missed: missed.slice(0, MAX_MISSED), missedInAll: missed.length, config, values };
  return jsonResponse(shown, request);
}
