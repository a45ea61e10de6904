/**
 * The headers of a response and its status. Those that most responses have are encoded once.
 *
 * @module
 */
import { Code } from "./codes.ts";
import { ACCEPTED_ENCODINGS } from "./frame.ts";
import type { HttpHeaders } from "./h2/headers.ts";
import { repeatedHeaders } from "./h2/hpack.ts";
import { encodeStatusMessage } from "./status.ts";

const PLAIN = {
  ":status": "200",
  "content-type": "application/grpc",
  "grpc-accept-encoding": ACCEPTED_ENCODINGS,
};
const RESPONSE = repeatedHeaders(PLAIN);
const GZIP_RESPONSE = repeatedHeaders({ ...PLAIN, "grpc-encoding": "gzip" });
const OK_STATUS = repeatedHeaders({ "grpc-status": String(Code.OK) });

/** The headers before the messages of a response. */
export function responseHeaders(acceptsGzip: boolean): Readonly<HttpHeaders> {
  return acceptsGzip ? GZIP_RESPONSE : RESPONSE;
}

/** The headers after them; an empty message is left out. */
export function statusHeaders(code: Code, message: string): Readonly<HttpHeaders> {
  if (message !== "") return { "grpc-status": String(code), "grpc-message": encodeStatusMessage(message) };
  return code === Code.OK ? OK_STATUS : { "grpc-status": String(code) };
}
