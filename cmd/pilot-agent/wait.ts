/**
 * The command `wait`: waits until the proxy is ready.
 *
 * Permissions: net (the polled address).
 *
 * @module
 */
import { errorMessage } from "../../lib/kernel/text/error_message.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { httpExchange } from "../../lib/cli/http.ts";
import { type Clock, systemClock } from "../../lib/kernel/time/clock.ts";

/** The address to poll, and how. Times are milliseconds. */
export interface WaitOptions {
  readonly url: URL;
  readonly period: number;
  readonly requestTimeout: number;
  readonly timeout: number;
}

/** Sends a request. Resolves with the HTTP status. */
export type StatusRequest = (url: URL, timeout: number) => Promise<number>;

const statusByHttp: StatusRequest = async (url, timeout) =>
  (await httpExchange({ method: "GET", url, timeout })).status;

/**
 * Polls until status 200: first after one period, then each period.
 * @throws {UsageError} With the last cause when the total time is over.
 */
export async function waitUntilReady(
  options: WaitOptions,
  clock: Clock = systemClock,
  request: StatusRequest = statusByHttp,
): Promise<void> {
  const end = clock.monotonic() + options.timeout;
  let cause = "no request was made yet";
  while (clock.monotonic() + options.period < end) {
    await clock.sleep(options.period);
    try {
      const status = await request(options.url, options.requestTimeout);
      if (status === 200) return;
      cause = `status ${status}`;
    } catch (error) {
      cause = errorMessage(error);
    }
  }
  throw new UsageError(`wait: ${options.url} was not ready within ${options.timeout / 1000} s; last answer: ${cause}`);
}

/**
 * Options of flag values.
 *
 * @throws {UsageError} naming every flag at fault.
 */
export function waitOptions(flags: {
  readonly periodMillis: number;
  readonly requestTimeoutMillis: number;
  readonly timeoutSeconds: number;
  readonly url: string;
}): WaitOptions {
  const problems = (["periodMillis", "requestTimeoutMillis", "timeoutSeconds"] as const)
    .filter((name) => flags[name] <= 0)
    .map((name) => `flag --${name}: got ${flags[name]}, expected more than 0`);
  const url = URL.canParse(flags.url) ? new URL(flags.url) : undefined;
  if (url?.protocol !== "http:") {
    problems.push(
      `flag --url: got ${JSON.stringify(flags.url)}, expected an address such as http://localhost:15021/healthz/ready`,
    );
  }
  if (url === undefined || problems.length > 0) throw new UsageError(problems.join("\n"));
  return {
    url,
    period: flags.periodMillis,
    requestTimeout: flags.requestTimeoutMillis,
    timeout: flags.timeoutSeconds * 1000,
  };
}
