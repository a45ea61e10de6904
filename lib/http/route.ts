/**
 * Routes as data: methods, a path pattern, and a function from a request to a response.
 *
 * @module
 */
import type { HttpRequest, HttpResponse, RequestHead } from "./message.ts";

/** Methods of routes. HEAD comes with GET, and the server answers OPTIONS. */
export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Refuses a request before the body is read; undefined: lets the request pass. */
export type Guard = (head: RequestHead) => HttpResponse | undefined | Promise<HttpResponse | undefined>;

export interface Route {
  /** `any`: every method, also unknown methods. */
  readonly methods: readonly HttpMethod[] | "any";
  /**
   * Segments separated by `/`: literal, `:name` for one segment of any text, and at the end `*` for the rest of the
   * path. A slash at the end of a request's path is ignored.
   */
  readonly path: string;
  /** Asked in order, before the body is read. */
  readonly guards?: readonly Guard[];
  /** Longest body in bytes, default {@linkcode DEFAULT_MAX_BODY}. A longer body is answered with 413. */
  readonly maxBody?: number;
  /**
   * A command for a person to make the right request, shown in the answer to a wrong method. Built from the wrong
   * request.
   */
  readonly command?: (head: RequestHead) => string;
  readonly handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
}

/** Longest body of a request in bytes, unless the route says otherwise: most bodies are a few fields. */
export const DEFAULT_MAX_BODY = 64 * 1024;

/** The response of the first guard that refuses a request; undefined: all guards let the request pass. */
export async function refusalOf(
  { guards = [] }: Pick<Route, "guards">,
  head: RequestHead,
): Promise<HttpResponse | undefined> {
  for (const guard of guards) {
    const refused = await guard(head);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** The same routes behind further guards. The further guards are asked first. */
export function guardedRoutes(routes: readonly Route[], ...guards: readonly Guard[]): Route[] {
  return routes.map((route) => ({ ...route, guards: [...guards, ...route.guards ?? []] }));
}
