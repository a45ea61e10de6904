/**
 * The node agent's routes for the plugin, which runs as many short processes, over a socket in the run folder. Log
 * lines of the plugin are written to this program's log, under the scope `cni-plugin`. Pods are looked up over an
 * existing connection. (A new process spends more time on TLS than on anything else.)
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { bodyText, type HttpRequest, type HttpResponse, textResponse } from "../../http/message.ts";
import type { Route } from "../../http/route.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { type PluginEvent, readPluginEvent } from "../ambient/plugin_event.ts";
import type { PodReport } from "../ambient/redirection.ts";
import { isObject, type NetworkJson } from "../config/network.ts";
import { type PodLookup, PodSourceError } from "../pods/source.ts";

/** Longest body, bytes: a call of the plugin writes a few lines. */
const MAX_BODY = 1024 * 1024;

/** Longest message about a pod, bytes. */
const MAX_EVENT = 64 * 1024;

/**
 * `POST /log`: an array of texts, each a line as JSON. `GET /pods/<namespace>/<name>` and `GET /namespaces/<name>`: the
 * orchestrator's answer, or `null`.
 */
export function pluginRoutes(log: Logger, pods: PodLookup): Route[] {
  return [
    { methods: ["POST"], path: "/log", maxBody: MAX_BODY, handle: (request) => takeLines(request, log) },
    {
      methods: ["GET"],
      path: "/pods/:namespace/:name",
      handle: ({ params }) => lookUp(() => pods.pod(params["namespace"]!, params["name"]!)),
    },
    {
      methods: ["GET"],
      path: "/namespaces/:name",
      handle: ({ params }) => lookUp(() => pods.namespaceLabels(params["name"]!)),
    },
  ];
}

/** The node agent's part for pods in ambient mode. */
export interface PodTaker {
  /** Takes over a starting pod. Rejects when the pod must get no network. */
  started(event: PluginEvent): Promise<void>;
  /** What is known about a pod; undefined: there is no such pod here. */
  report(namespace: string, name: string): Promise<PodReport | undefined>;
}

/**
 * `POST /cmdadd`: a pod that starts, see `lib/cni/ambient/plugin_event.ts`. `GET /pods/<namespace>/<name>`: the agent's
 * report about a pod, or `null`.
 */
export function eventRoutes(taker: PodTaker, log: Logger): Route[] {
  return [
    {
      methods: ["POST"],
      path: "/cmdadd",
      maxBody: MAX_EVENT,
      handle: async (request) => {
        try {
          await taker.started(readPluginEvent(bodyText(request)));
          return { status: 200, body: "" };
        } catch (error) {
          const message = errorMessage(error);
          log.warn("a starting pod was not taken into ambient mode", { why: message });
          return textResponse(500, `${message}\n`);
        }
      },
    },
    {
      methods: ["GET"],
      path: "/pods/:namespace/:name",
      handle: async ({ params }) => jsonResponse(await taker.report(params["namespace"]!, params["name"]!) ?? null),
    },
  ];
}

function jsonResponse(value: unknown): HttpResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

function takeLines(request: HttpRequest, log: Logger): HttpResponse {
  let lines: unknown;
  try {
    lines = JSON.parse(bodyText(request));
  } catch (error) {
    return textResponse(400, `body: expected JSON (${(error as Error).message})\n`);
  }
  if (!Array.isArray(lines)) return textResponse(400, "body: expected an array of texts\n");
  for (const line of lines) if (typeof line === "string") writeLine(line, log);
  return { status: 200, body: "" };
}

async function lookUp(ask: () => Promise<unknown>): Promise<HttpResponse> {
  try {
    return jsonResponse(await ask() ?? null);
  } catch (error) {
    if (error instanceof PodSourceError) return textResponse(error.status ?? 504, error.message);
    throw error;
  }
}

/** Writes a line with the line's own level. A line that is not JSON is written unchanged. */
function writeLine(line: string, log: Logger): void {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = { msg: line };
  }
  const { level, msg, time: _time, scope: _scope, ...fields }: NetworkJson = isObject(value) ? value : { msg: line };
  const text = typeof msg === "string" ? msg : line;
  const known = (["debug", "info", "warn", "error", "fatal"] as const).find((name) => name === level);
  log[known ?? "info"](text, fields);
}
