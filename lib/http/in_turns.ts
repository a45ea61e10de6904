/**
 * Requests that take turns with all other work. Between two answers the event loop turns once, so that a probe or a
 * push waits for a single answer, even if clients ask for many answers at once.
 *
 * @module
 */
import { oneTurn } from "../kernel/time/paced.ts";
import { textResponse } from "./message.ts";
import type { Route } from "./route.ts";

/**
 * The same routes with answers in turns. The request of a client that has left costs nothing.
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
