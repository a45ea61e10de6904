/**
 * The introspection port (`--ctrlz_address`, `--ctrlz_port`): the process itself, as pages for people (`/scopez`) and as
 * JSON for tools (`/scopej/`), at the paths and with the words that Istio's ControlZ has.
 *
 * Permissions: read (the working folder's path), sys (hostname).
 *
 * @module
 */
import { buildInfo } from "../kernel/build_info.ts";
import type { Log } from "../kernel/log/log.ts";
import { htmlPage, htmlTable, type Link } from "./html.ts";
import { type Answer, type Ask, type Handler, json, text } from "./http.ts";
import { scopeBody, scopePage, setScope, shownScopes } from "./scope_topic.ts";

/** What the pages look at. */
export interface ProcessView {
  readonly program: string;
  readonly log: Log;
  readonly args: readonly string[];
  /** The variables that the program reads, as far as they are set. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends the program cleanly. */
  readonly exit: () => void;
}

/** One subject: `/<prefix>z` for people, `/<prefix>j/` for tools. */
interface Topic {
  readonly prefix: string;
  readonly title: string;
  readonly value: (view: ProcessView) => unknown;
  /** HTML instead of a table of the value. */
  readonly page?: (view: ProcessView) => string;
}

/** The subjects, in the order of the navigation. */
const TOPICS: readonly Topic[] = [
  { prefix: "scope", title: "Logging scopes", value: ({ log }) => shownScopes(log), page: ({ log }) => scopePage(log) },
  { prefix: "mem", title: "Memory usage", value: () => Deno.memoryUsage() },
  {
    prefix: "env",
    title: "Environment variables",
    value: ({ environment }) =>
      Object.entries(environment).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ({ name, value })),
  },
  { prefix: "proc", title: "Process", value: processFacts },
  { prefix: "arg", title: "Command line", value: ({ args }) => args },
  { prefix: "version", title: "Version", value: versionFacts },
];

/** Also under the name that the page of the command line has elsewhere. */
const ALIASES: Readonly<Record<string, string>> = { args: "arg" };

const LINKS: readonly Link[] = [
  { href: "/", title: "Home" },
  ...TOPICS.map(({ prefix, title }) => ({ href: `/${prefix}z/`, title })),
];

/**
 * Answers every path of the port.
 *
 * @param local It listens on this machine's loopback alone: then only its own names are answered, so that no page of
 * another site can reach it by a name that resolves to it.
 */
export function introspection(view: ProcessView, local: boolean): Handler {
  return async (ask) => {
    if (local && !isOwnName(ask.host)) return text(403, "ask by localhost, 127.0.0.1 or [::1]\n");
    const path = ask.url.pathname;
    if (path === "/homej/exit") return ask.method === "PUT" ? exit(view) : onlyMethod(ask, "PUT");
    if (path === "/memj/forcecollection") return text(501, "this runtime collects garbage when it sees fit\n");
    const scope = /^\/scopej\/([^/]+)\/?$/.exec(path)?.[1];
    if (scope !== undefined) return await oneScope(ask, scope, view.log);
    if (ask.method !== "GET" && ask.method !== "HEAD") return onlyMethod(ask, "GET");
    if (path === "/") return html(200, view, "Home", htmlTable(homeFacts(view)));
    if (path === "/homej" || path === "/homej/") return json(homeFacts(view), ask);
    const asked = /^\/([a-z]+)([jz])\/?$/.exec(path);
    const prefix = asked?.[1] ?? "";
    const topic = TOPICS.find((one) => one.prefix === (ALIASES[prefix] ?? prefix));
    if (topic === undefined) return html(404, view, "No such page", `<p>${LINKS.length} pages are linked above.</p>`);
    if (asked?.[2] === "j") return json(topic.value(view), ask);
    return html(200, view, topic.title, topic.page?.(view) ?? htmlTable(topic.value(view)));
  };
}

function exit({ exit }: ProcessView): Answer {
  // The answer goes out first.
  setTimeout(exit, 100);
  return { status: 202, body: "" };
}

async function oneScope(ask: Ask, name: string, log: Log): Promise<Answer> {
  const known = shownScopes(log).find((scope) => scope.name === name);
  if (known === undefined) return text(400, `unknown scope name: ${name}\n`);
  if (ask.method === "GET" || ask.method === "HEAD") return json(known, ask);
  if (ask.method !== "PUT") return onlyMethod(ask, "GET or PUT");
  const change = scopeBody(await ask.body());
  if ("mistakes" in change) return text(400, change.mistakes.map((mistake) => `${mistake}\n`).join(""));
  setScope(log, name, change);
  return { status: 202, body: "" };
}

function onlyMethod(ask: Ask, expected: string): Answer {
  return text(405, `method: got ${ask.method}, expected ${expected}\n`);
}

function html(status: number, { program }: ProcessView, title: string, body: string): Answer {
  return { status, contentType: "text/html; charset=utf-8", body: htmlPage(program, title, LINKS, body) };
}

function homeFacts({ program }: ProcessView) {
  return {
    ProcessName: program,
    HeapSize: Deno.memoryUsage().heapUsed,
    CurrentTime: Date.now() * 1_000_000,
    Hostname: Deno.hostname(),
  };
}

function processFacts() {
  return { pid: Deno.pid, ppid: Deno.ppid, wd: Deno.cwd(), hostname: Deno.hostname() };
}

function versionFacts() {
  const { version, revision, runtime, status, tag } = buildInfo();
  return { version, revision, golang_version: runtime, status, tag };
}

/** Whether a Host header names this machine's loopback, with any port. */
function isOwnName(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host);
}
