/**
 * The pages of the status port: readiness, and the end of the agent on behalf of the workload.
 *
 * @module
 */
import type { NameTable } from "../../dns/table/types.ts";
import { localOnly } from "../../http/local_only.ts";
import { guardOwnNames } from "../../http/own_names.ts";
import { jsonResponse, textResponse } from "../../http/message.ts";
import type { Guard, Route } from "../../http/route.ts";

/** Actions of the pages. */
export interface StatusActions {
  /** The name table of the DNS server. Undefined: there is none. */
  nameTable(): NameTable | undefined;
  /** Why the proxy is not ready. Undefined: the proxy is ready. */
  notReady(): Promise<string | undefined>;
  /** Ends the agent and its proxy now. */
  quit(): void;
  /**
   * Drains the proxy. Agent and proxy go on until a signal.
   * @throws {Error} When the proxy does not accept the call.
   */
  drain(): Promise<void>;
}

/** For the workload beside the proxy, not for other machines or for web pages in a browser of this machine. */
export const LOCAL_GUARDS: readonly Guard[] = [localOnly, guardOwnNames([])];

/**
 * `GET /healthz/ready`: 200, or 503 with the reason. `POST /quitquitquit` and `POST /drain`, only from this machine:
 * 200 with `OK`, 500 with the reason. `GET /debug/ndsz`, only from this machine: the name table as JSON, or 404 with
 * `{}` without a table.
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
      methods: ["GET"],
      path: "/debug/ndsz",
      guards: LOCAL_GUARDS,
      handle: (request) => {
        const table = actions.nameTable();
        return table === undefined ? jsonResponse({}, request, 404) : jsonResponse({ table }, request);
      },
    },
    {
      methods: ["POST"],
      path: "/quitquitquit",
      guards: LOCAL_GUARDS,
      handle: () => {
        actions.quit();
        return textResponse(200, "OK");
      },
    },
    {
      methods: ["POST"],
      path: "/drain",
      guards: LOCAL_GUARDS,
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
