/**
 * A workload that accepts mutual TLS alone, and its clients without proxies.
 *
 * Permissions: net (loopback).
 * @module
 */
import { connect } from "node:tls";
import type { Certificate } from "../../certificates.ts";
import { peersFile, sidecarFile } from "../../../scripts/demo/workloads.ts";

/** Configuration: the workload `server` of the namespace `demo`. Its sidecar listens on a port of 127.0.0.1. */
export function strictWorkload(application: number, port: number): string {
  return [sidecarFile({ name: "server", port, application }), peersFile("STRICT")].join("---");
}

/**
 * Asks for the host `app.test` with the caller's certificate: the answer's body, or "refused" when nothing got through.
 */
export function askAs(port: number, own?: Certificate): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const identity = own === undefined ? {} : { cert: own.certificate, key: own.key };
  const options = { host: "127.0.0.1", port, servername: "app.test", rejectUnauthorized: false, ...identity };
  const socket = connect(options, () => socket.write("GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n"));
  socket.setEncoding("utf8");
  socket.on("data", (part: string) => text += part);
  socket.on("error", () => {});
  socket.on("close", () => resolve(/^HTTP\/1.1 200[^]*?\r\n\r\n([^]*)$/.exec(text)?.[1]?.trim() ?? "refused"));
  return promise;
}
