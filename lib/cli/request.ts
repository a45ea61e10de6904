/**
 * The command `request`: one HTTP request to a server of this machine, its answer printed.
 *
 * Permissions: net (the address that is asked).
 *
 * @module
 */
import { type Address, showAddress } from "./address.ts";
import { type Output, UsageError } from "./command.ts";
import { httpExchange } from "./http.ts";

/** Longest time for an answer, milliseconds. */
export const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Asks and prints the body and a line break. The body of a page that does not exist (404) goes to standard error; every
 * other status of 400 or more is an error that carries status and body.
 *
 * @param args Method, path (its leading `/` may be left out), and perhaps a body.
 * @returns The exit code: 0, or 1 for a page that does not exist.
 * @throws {UsageError} when the server cannot be reached or refuses.
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
