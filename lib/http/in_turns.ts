/**
 * Requests that take turns with everything else: between two answers the event loop turns once, so that a probe or a push
 * waits for one answer, and not for as many as clients ask for at once.
 *
 * @module
 */
import { oneTurn } from "../kernel/time/paced.ts";
import { textResponse } from "./message.ts";
import type { Route } from "./route.ts";

/**
 * The same routes, whose answers take turns with each other. A client that has gone before its turn costs nothing.
 *
 * @param turn Resolves after a turn of the event loop; for tests.
 */
export function inTurns(routes: readonly Route[], turn: () => Promise<void> = oneTurn): Route[] {
  let last = Promise.resolve();
  return routes.map((route) => ({
    ...route,
    handle: async (request) => {
      await (last = last.then(turn));
      if (request.signal.aborted) return textResponse(503, "the client is gone, or the server stops\n");
      return await route.handle(request);
    },
  }));
}
