/**
 * Liveness and readiness of the installer, for the orchestrator.
 *
 * @module
 */
import { textResponse } from "../../http/message.ts";
import type { Route } from "../../http/route.ts";

/**
 * `/healthz`: 200 as long as the program runs. `/readyz`: 200 when the plugin is installed, else 503 with the reason.
 *
 * @param notReady the reason; undefined: the plugin is installed
 */
export function healthRoutes(notReady: () => string | undefined): Route[] {
  return [
    { methods: ["GET"], path: "/healthz", handle: () => textResponse(200, "ok\n") },
    {
      methods: ["GET"],
      path: "/readyz",
      handle: () => {
        const reason = notReady();
        return reason === undefined ? textResponse(200, "ok\n") : textResponse(503, `${reason}\n`);
      },
    },
  ];
}
