/**
 * Asks the debug pages of a running server.
 *
 * Permissions: net (the server's address).
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import { type ClientResponse, httpExchange } from "../../lib/cli/http.ts";
import { answererText, type AskedProgram, expectedText, failureText, isNobodyThere } from "./answerer.ts";

/** Longest time for an answer, ms: a preview may take as long as the server allows. */
const TIMEOUT = 90_000;

/** The URL of a server's pages; undefined: the text is not an address (`host:port`, or a URL). */
export function serverUrl(text: string): URL | undefined {
  const isUrl = /^https?:\/\/[^/]+\/?$/.test(text);
  if (!isUrl && !/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)?:\d{1,5}$/.test(text)) return undefined;
  const url = isUrl ? text : `http://${text.startsWith(":") ? `127.0.0.1${text}` : text}`;
  return URL.canParse(url) ? new URL(url) : undefined;
}

/** What is asked, and which answers are answers. */
export interface AskOptions {
  readonly body?: string;
  /** How long the server itself may wait before it answers, ms. */
  readonly waits?: number;
  /** A status beside 200 whose body is an answer. */
  readonly alsoStatus?: number;
  /** The program that is asked. Default: a discovery server. */
  readonly asked?: AskedProgram;
  /** A field of every answer: JSON without the field is an answer of another program. */
  readonly field?: string;
  /** Longest time for an answer, ms. */
  readonly timeout?: number;
}

/**
 * The URL of the server of a flag.
 *
 * @throws {UsageError} when the flag's text is not an address
 */
export function serverOfFlag(text: string): URL {
  return addressOfFlag("--server", text);
}

/**
 * The URL of the address of a flag.
 *
 * @throws {UsageError} when the flag's text is not an address
 */
export function addressOfFlag(flag: string, text: string): URL {
  const url = serverUrl(text);
  if (url !== undefined) return url;
  throw new UsageError(`flag ${flag}: got ${JSON.stringify(text)}, expected host:port or http://host:port`);
}

/**
 * Asks, and reads the answer as JSON.
 *
 * @throws {UsageError} when the server cannot be reached, refuses, or another program answers
 */
export async function askServer(method: "GET" | "POST", url: URL, options: AskOptions = {}): Promise<unknown> {
  const answer = await answerOf(method, url, options);
  const value = parsed(answer.body);
  const { asked = "server", field } = options;
  if (value === undefined) throw new UsageError(`${url.origin}: ${answererText(answer)}; ${expectedText(asked, url)}`);
  if (field === undefined || typeof value === "object" && value !== null && field in value) return value;
  throw new UsageError(`${url.origin}: got JSON without the field ${field}; ${expectedText(asked, url)}`);
}

/**
 * Asks, and gives the text of the answer.
 *
 * @throws {UsageError} as {@linkcode askServer}
 */
export async function askText(method: "GET" | "POST", url: URL, options: AskOptions = {}): Promise<string> {
  return (await answerOf(method, url, options)).body;
}

async function answerOf(
  method: "GET" | "POST",
  url: URL,
  { body, waits = 0, alsoStatus, asked = "server", timeout = TIMEOUT }: AskOptions,
): Promise<ClientResponse> {
  const expected = expectedText(asked, url);
  if (url.protocol === "https:") throw new UsageError(`${url.origin}: got https, which is not served; ${expected}`);
  const answer = await httpExchange({ method, url, body, timeout: timeout + waits }).catch((error: Error) => {
    const why = failureText(error);
    throw new UsageError(
      `${url.origin}: ${isNobodyThere(error) ? `${why}; ${runningText(asked, url)}` : `${why}; ${expected}`}`,
    );
  });
  if (answer.status === 200 || answer.status === alsoStatus) return answer;
  const isOwn = asked === "server" && await isDiscoveryServer(url);
  throw new UsageError(`${url.origin}: ${isOwn ? refusalText(answer) : `${answererText(answer)}; ${expected}`}`);
}

/** What to do when nobody listens. Pages of a server in a cluster answer only callers on the server's machine. */
function runningText(asked: AskedProgram, { hostname, port }: URL): string {
  const question = `is the ${asked} running?`;
  if (asked !== "server" || hostname !== "127.0.0.1" || port !== "8080") return question;
  return `${question} In a cluster: kubectl -n mesh-system port-forward deployment/meshd 8080`;
}

/** JSON of an answer; undefined: the answer is none. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** A discovery server refuses in sentences for people. */
function refusalText({ body, status }: ClientResponse): string {
  return body.trim() || `status ${status}`;
}

/** Title of the index of the debug pages, which a server shows to everybody. */
const INDEX_TITLE = "<title>pilot-discovery</title>";

/** Whether a discovery server is there, so that a refusal is its own. */
async function isDiscoveryServer(url: URL): Promise<boolean> {
  const index = { method: "GET", url: new URL("/debug", url), timeout: TIMEOUT } as const;
  // The refusal is told in any case; without an index it is told as that of another program.
  const { body } = await httpExchange(index).catch(() => ({ body: "" }));
  return body.includes(INDEX_TITLE);
}
