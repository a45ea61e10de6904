/**
 * A request to a host behind a gateway, on a new connection.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import http from "node:http";

/** The response to a GET for a host, or the error's message without a response. */
export function requestHost(
  port: number,
  host: string,
  path = "/",
): Promise<{ status: number; body: string } | string> {
  const { promise, resolve } = Promise.withResolvers<{ status: number; body: string } | string>();
  const request = http.get({ host: "127.0.0.1", port, path, headers: { host }, agent: false }, (response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (text) => body += text);
    response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
  });
  request.on("error", (error) => resolve(error.message));
  return promise;
}
