/**
 * A test workload that answers with the received request, and a client that sends arbitrary headers.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import http from "node:http";

/** The request received by the workload. */
export interface EchoedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An application that answers with its name, and the path and headers of the request. */
export function headerEcho(name = "app"): { readonly port: number } & AsyncDisposable {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    const headers = { "x-name": name, "content-type": "application/json" };
    return Response.json({ path: pathname + search, headers: Object.fromEntries(request.headers) }, { headers });
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** How a client asks. */
export interface AskedRequest {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** The answer to a request on a new connection. */
export interface Answer {
  readonly status: number;
  /** Name of the answering workload. Empty: the proxy itself. */
  readonly by: string;
  readonly body: string;
  readonly got?: EchoedRequest;
}

/** Sends a request to a port of 127.0.0.1. Status 0: no answer. */
export function askWith(
  port: number,
  { path = "/", method = "GET", headers = {} }: AskedRequest = {},
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const options = { host: "127.0.0.1", port, path, method, agent: false, headers: { host: "app.test", ...headers } };
  const request = http.request(options as http.RequestOptions, (response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (text) => body += text);
    response.on("end", () => {
      const by = String(response.headers["x-name"] ?? "");
      const got = by === "" || method === "HEAD" ? {} : { got: JSON.parse(body) as EchoedRequest };
      resolve({ status: response.statusCode ?? 0, by, body, ...got });
    });
  });
  request.on("error", (error) => resolve({ status: 0, by: "", body: error.message }));
  request.end();
  return promise;
}
