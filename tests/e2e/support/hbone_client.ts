/**
 * An HBONE client other than Envoy: a CONNECT over mutual TLS, with an address chosen by the caller.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import http2 from "node:http2";
import { connect } from "node:tls";
import { HBONE_PORT } from "../../../lib/translate/hbone/names.ts";

/** The call: address and caller. */
export interface HboneCall {
  /** The address in the CONNECT. */
  readonly to: string;
  readonly cert?: string;
  readonly key?: string;
  /** Address of the client. */
  readonly from?: string;
  /** Address of the proxy. Default 127.0.0.1. */
  readonly proxy?: string;
}

/** The result of a call. */
export interface HboneAnswer {
  /** Status of the CONNECT. 0: no answer. */
  readonly connected: number;
  /** The received text before the connection ended. */
  readonly text: string;
}

/** Sends a text over HBONE. Returns the received text up to the end of an HTTP head. */
export async function askByHbone(
  { to, cert, key, from, proxy = "127.0.0.1" }: HboneCall,
  text: string,
): Promise<HboneAnswer> {
  const { promise, resolve } = Promise.withResolvers<HboneAnswer>();
  let connected = 0, said = "";
  const end = () => resolve({ connected, text: said });
  const socket = connect({
    host: proxy,
    port: HBONE_PORT,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2"],
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(from === undefined ? {} : { localAddress: from }),
  });
  socket.on("error", end);
  socket.on("close", end);
  socket.on("secureConnect", () => {
    const session = http2.connect("https://127.0.0.1", { createConnection: () => socket });
    session.on("error", end);
    const stream = session.request({ ":method": "CONNECT", ":authority": to }, { endStream: false });
    stream.on("response", (headers) => {
      connected = Number(headers[":status"]);
      if (connected === 200) stream.write(text);
      else end();
    });
    stream.on("data", (part: Uint8Array) => {
      said += new TextDecoder().decode(part);
      if (/\r\n\r\n/.test(said)) end();
    });
    stream.on("error", end);
    stream.on("end", end);
    stream.on("close", end);
  });
  const answer = await promise;
  socket.destroy();
  return answer;
}
