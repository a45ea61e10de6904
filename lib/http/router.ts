/**
 * Finds the route of a request.
 *
 * @module
 */
import { type HttpResponse, type RequestHead, textResponse } from "./message.ts";
import { refusalOf, type Route } from "./route.ts";

/** A route with the values of its named segments. */
export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** All routes of one path pattern. */
interface PathEntry {
  readonly segments: readonly string[];
  readonly routes: Route[];
}

/** Loads routes whose modules are rarely needed. */
export type LoadRoutes = () => Promise<readonly Route[]>;

/** Routes by path and method. */
export class Router {
  #load: LoadRoutes | undefined;
  #loading: Promise<void> | undefined;
  /** Patterns without named segments. */
  readonly #literal = new Map<string, PathEntry>();
  /** The others, in the order of the routes. */
  readonly #patterns: PathEntry[] = [];

  /**
   * @param load Loads further routes, at the first request for a path that `routes` lack.
   * @throws RangeError for two routes of one path and method, or for a `*` before the end: a mistake in the code
   */
  constructor(routes: readonly Route[], load?: LoadRoutes) {
    for (const route of routes) this.#add(route);
    this.#load = load;
  }

  /**
   * The route of a request, or the response to a request without a route: 404, 405 with the allowed methods, these
   * methods for OPTIONS, 400 for a path that cannot be decoded.
   *
   * @throws The error of loading the further routes; the next request tries again.
   */
  async find(head: RequestHead): Promise<FoundRoute | HttpResponse> {
    if (head.method === "OPTIONS" && head.path === "*") return { status: 204, body: "" };
    const segments = decoded(head.path);
    if (segments === undefined) {
      const expected = "expected two hexadecimal digits after each percent sign, UTF-8";
      return textResponse(400, `path: got ${JSON.stringify(head.path)}, ${expected}\n`);
    }
    const found = this.#entryOf(segments) ?? await this.#laterEntryOf(segments);
    if (found === undefined) return textResponse(404, `no page ${head.path}\n`);
    const { entry: { routes }, params } = found;
    const route = routes.find(({ methods }) => methods === "any" || methods.some((method) => method === head.method));
    if (route !== undefined) return { route, params };
    return await refusalOf(routes[0]!, head) ?? methodResponse(head, routes);
  }

  async #laterEntryOf(segments: readonly string[]) {
    if (this.#load === undefined) return undefined;
    this.#loading ??= this.#loadWith(this.#load).finally(() => this.#loading = undefined);
    await this.#loading;
    return this.#entryOf(segments);
  }

  async #loadWith(load: LoadRoutes): Promise<void> {
    for (const route of await load()) this.#add(route);
    this.#load = undefined;
  }

  #add(route: Route): void {
    const segments = segmentsOf(route.path);
    const wild = segments.indexOf("*");
    if (wild >= 0 && wild < segments.length - 1) throw new RangeError(`route ${route.path}: * stands at the end`);
    const path = `/${segments.join("/")}`;
    const isLiteral = wild < 0 && !segments.some((segment) => segment.startsWith(":"));
    let entry = isLiteral
      ? this.#literal.get(path)
      : this.#patterns.find((one) => one.segments.join("/") === path.slice(1));
    if (entry === undefined) {
      entry = { segments, routes: [] };
      if (isLiteral) this.#literal.set(path, entry);
      else this.#patterns.push(entry);
    }
    if (entry.routes.some((other) => overlap(other, route))) {
      throw new RangeError(`route ${route.path}: two routes of the same method`);
    }
    entry.routes.push(route);
  }

  #entryOf(segments: readonly string[]): { entry: PathEntry; params: Record<string, string> } | undefined {
    const literal = this.#literal.get(`/${segments.join("/")}`);
    // A decoded slash belongs to its segment, so that the path does not match a literal path of more segments.
    if (literal !== undefined && literal.segments.length === segments.length) return { entry: literal, params: {} };
    for (const entry of this.#patterns) {
      const params = paramsOf(entry.segments, segments);
      if (params !== undefined) return { entry, params };
    }
    return undefined;
  }
}

function segmentsOf(path: string): string[] {
  const trimmed = path.replace(/^\//, "").replace(/\/$/, "");
  return trimmed === "" ? [] : trimmed.split("/");
}

/** The segments of a request's path; undefined: a percent sign does not begin the code of a byte. */
function decoded(path: string): string[] | undefined {
  try {
    return segmentsOf(path).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const wild = pattern.at(-1) === "*";
  if (wild ? segments.length < pattern.length : segments.length !== pattern.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, wanted] of pattern.entries()) {
    const segment = segments[i]!;
    if (wanted === "*") return params;
    if (wanted.startsWith(":") && segment !== "") params[wanted.slice(1)] = segment;
    else if (wanted !== segment) return undefined;
  }
  return params;
}

function overlap(a: Route, b: Route): boolean {
  if (a.methods === "any" || b.methods === "any") return true;
  return a.methods.some((method) => b.methods.includes(method));
}

/** The response to OPTIONS, or to a method that the routes of a path lack. */
export function methodResponse(
  head: RequestHead,
  routes: readonly Pick<Route, "methods" | "command">[],
): HttpResponse {
  const methods = routes.flatMap((route) => route.methods === "any" ? [] : route.methods);
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (head.method === "OPTIONS") return { status: 204, headers: { allow }, body: "" };
  const commands = routes.flatMap(({ command }) => command === undefined ? [] : `${command(head)}\n`);
  const refused = textResponse(
    405,
    `method: got ${head.method}, expected ${methods.join(" or ")}\n${commands.join("")}`,
  );
  return { ...refused, headers: { ...refused.headers, allow } };
}
