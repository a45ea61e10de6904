/**
 * The pages of the status port: readiness, and the end of the agent on behalf of the workload.
 *
 * @module
 */
import { localOnly } from "../../http/local_only.ts";
import { textResponse } from "../../http/message.ts";
import type { Guard, Route } from "../../http/route.ts";

/** What the pages do. */
export interface StatusActions {
  /** Why the proxy is not ready; undefined: it is. */
  notReady(): Promise<string | undefined>;
  /** Ends the agent and its proxy now. */
  quit(): void;
  /**
   * Has the proxy drain; agent and proxy go on until a signal ends them.
   *
   * @throws Error when the proxy does not take the call
   */
  drain(): Promise<void>;
}

/** The proxy ends for the workload beside it, not for other machines. */
const guards: readonly Guard[] = [localOnly];

/**
 * `GET /healthz/ready`: 200, or 503 with the reason. `POST /quitquitquit` and `POST /drain`, from this machine alone: 200
 * with `OK`, 500 with the reason.
 */
export function statusRoutes(actions: StatusActions): Route[] {
  return [
    {
      methods: ["GET"],
      path: "/healthz/ready",
      handle: async () => {
        const reason = await actions.notReady();
        return reason === undefined ? textResponse(200, "") : textResponse(503, `${reason}\n`);
      },
    },
    {
      methods: ["POST"],
      path: "/quitquitquit",
      guards,
      handle: () => {
        actions.quit();
        return textResponse(200, "OK");
      },
    },
    {
      methods: ["POST"],
      path: "/drain",
      guards,
      handle: async () => {
        try {
          await actions.drain();
          return textResponse(200, "OK");
        } catch (error) {
          return textResponse(500, `${(error as Error).message}\n`);
        }
      },
    },
  ];
}
