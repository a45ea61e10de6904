/**
 * Pages without a form of their own: their JSON, indented.
 *
 * @module
 */
import type { Route } from "../http/route.ts";
import { markup } from "./html.ts";
import type { WebPageMaker } from "./view.ts";

/** Characters of a JSON text that a page shows. */
const MAX_SHOWN = 200_000;

/** Makes the page of a route. */
export function plainPage(route: Route): WebPageMaker {
  return async (request) => {
    const { status, body } = await route.handle(request);
    const text = indented(typeof body === "string" ? body : new TextDecoder().decode(body));
    const rest = text.length - MAX_SHOWN;
    const more = rest > 0 && markup`
      <p>${rest} characters more; the command below gets all of it.</p>
    `;
    return {
      status,
      title: route.path,
      body: markup`
        ${more}<pre>${text.slice(0, MAX_SHOWN)}</pre>
      `,
    };
  };
}

/** JSON as people read it; what is none, such as the reason of a refusal, as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
