/**
 * The command `request`: sends an HTTP request to a server on this machine, and prints the answer.
 *
 * Permissions: net (the server's address).
 *
 * @module
 */
import { type Address, showAddress } from "./address.ts";
import { type Output, UsageError } from "./command.ts";
import { httpExchange } from "./http.ts";

/** Longest time for an answer, milliseconds. */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Sends the request and prints the body and a line break. The body of a missing page (404) goes to standard error.
 * Every other status of 400 or more is an error with status and body.
 * @param args Method, path (the leading `/` is optional), and perhaps a body.
 * @returns The exit code: 0, or 1 for a missing page.
 * @throws {UsageError} When the server cannot be reached or refuses.
 */
export async function requestCommand(args: readonly string[], server: Address, output: Output): Promise<number> {
  const [method = "", path = "", body] = args;
  if (!/^[A-Za-z]+$/.test(method)) {
    throw new UsageError(`request: got method ${JSON.stringify(method)}, expected an HTTP method such as GET or POST`);
  }
  const url = new URL(`http://${showAddress(server)}/${path.replace(/^\//, "")}`);
  const ask = { method: method.toUpperCase(), url, body, timeout: REQUEST_TIMEOUT_MS };
  const answer = await httpExchange(ask).catch((error: Error) => {
    throw new UsageError(`request: ${ask.method} ${url}: ${error.message || String(error)}; is the server running?`);
  });
  if (answer.status === 404) {
    output.err(answer.body.endsWith("\n") ? answer.body : `${answer.body || "status 404"}\n`);
    return 1;
  }
  if (answer.status > 399) {
    throw new UsageError(`request: ${ask.method} ${url}: status ${answer.status}: ${answer.body.trim()}`);
  }
  output.out(answer.body + "\n");
  return 0;
}
