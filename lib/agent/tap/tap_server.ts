/**
 * The port on which people and their tools see the control plane as the workload sees it: pages at `/debug/...`, and
 * the same over gRPC, where a discovery request is passed on unchanged.
 *
 * @module
 */
import type { Socket } from "node:net";
import type { Call } from "../../grpc/call.ts";
import { Code } from "../../grpc/codes.ts";
import { GrpcServer } from "../../grpc/server.ts";
import type { GrpcService } from "../../grpc/service.ts";
import { RpcError } from "../../grpc/status.ts";
import { localOnly } from "../../http/local_only.ts";
import { type HttpRequest, type HttpResponse, textResponse } from "../../http/message.ts";
import { guardOwnNames } from "../../http/own_names.ts";
import type { Route } from "../../http/route.ts";
import { HttpServer } from "../../http/server.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { byPreface } from "../../sockets/listen/preface.ts";
import { SocketTransport } from "../../sockets/transport/socket.ts";
import { readResponse, requestType } from "../relay/messages.ts";
import { type AskServer, DEBUG_TYPE, questionOf } from "./ask_server.ts";

/** The server of the port. */
export interface TapServer {
  accept(socket: Socket): void;
  close(): Promise<void>;
}

export function tapServer(
  ask: AskServer,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): TapServer {
  const grpc = new GrpcServer([tapService(ask)]);
  const pages = new HttpServer({ routes: tapRoutes(ask), log, clock });
  const accept = byPreface((socket) => grpc.accept(new SocketTransport(socket)), (socket) => pages.accept(socket));
  return {
    accept,
    async close() {
      await Promise.all([grpc.stop(0), pages.close(0)]);
    },
  };
}

/** `GET /debug/NAME?QUERY`: the server's answer to this name. `GET /debug?resourceName=NAME` is the same. */
function tapRoutes(ask: AskServer): Route[] {
  const guards = [localOnly, guardOwnNames([])];
  return [
    {
      methods: ["GET"],
      path: "/debug",
      guards,
      handle: (request) => {
        const name = request.query.get("resourceName") ?? "";
        if (name !== "") return page(ask, name, request);
        return textResponse(400, "expected /debug/NAME, such as /debug/syncz, or /debug?resourceName=NAME\n");
      },
    },
    {
      methods: ["GET"],
      path: "/debug/*",
      guards,
      handle: (request) => {
        const query = `${request.query}`;
        const name = request.path.slice("/debug/".length);
        return page(ask, query === "" ? name : `${name}?${query}`, request);
      },
    },
  ];
}

const STATUSES: Readonly<Record<number, number>> = { [Code.RESOURCE_EXHAUSTED]: 429, [Code.DEADLINE_EXCEEDED]: 504 };

async function page(ask: AskServer, name: string, { signal }: HttpRequest): Promise<HttpResponse> {
  try {
    const { resources: [first] } = readResponse("sotw", await ask({ typeUrl: DEBUG_TYPE, names: [name] }, signal));
    if (first === undefined) return textResponse(404, `the server says nothing to ${name}\n`);
    return { status: 200, headers: { "content-type": "application/json" }, body: first.body };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return textResponse(STATUSES[error.code] ?? 503, `${error.message}\n`);
  }
}

function tapService(ask: AskServer): GrpcService {
  const both = { clientStreaming: true, serverStreaming: true } as const;
  return {
    name: "envoy.service.discovery.v3.AggregatedDiscoveryService",
    methods: [{
      name: "StreamAggregatedResources",
      input: "envoy.service.discovery.v3.DiscoveryRequest",
      output: "envoy.service.discovery.v3.DiscoveryResponse",
      ...both,
      handle: (call) => answerFirst(call, ask),
    }],
  };
}

/** One question on each stream, as tools ask. */
function answerFirst(call: Call, ask: AskServer): void {
  const gone = new AbortController();
  let isAsked = false;
  call.start({
    message(bytes) {
      if (isAsked) return;
      isAsked = true;
      ask(questionOf(requestType("sotw", bytes), bytes), gone.signal).then((answer) => {
        call.send([answer], false);
        call.end();
      }, (error) => call.fail(error));
    },
    // The answer is still to come.
    halfClose() {},
    close: () => gone.abort(),
  });
}
