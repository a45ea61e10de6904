/**
 * The search box: objects, proxies and services with a text in their name.
 *
 * @module
 */
import { type FoundNames, searchNames } from "../debug/search.ts";
import { nodeNames } from "../debug/proxies.ts";
import { type Html, markup } from "./html.ts";
import { objectUrl, proxyUrl, serviceUrl, withQuery } from "../debug/links.ts";
import type { WebPage, WebPageMaker } from "./view.ts";

/** The page; query `q`. */
export const searchPage: WebPageMaker = (request, view): WebPage => {
  const text = request.query.get("q") ?? "";
  const found = searchNames(text, view);
  const { objects, proxies, services } = found;
  return {
    title: text === "" ? "Search" : `Search: ${text}`,
    body: markup`
      ${list("Objects", "/debug/configz", text, objects, objectUrl)}${
      list(
        "Proxies",
        "/debug/syncz",
        text,
        proxies,
        proxyUrl,
        (node) => nodeNames(node).name,
      )
    }${list("Services", "/debug/registryz", text, services, serviceUrl)}
    `,
  };
};

function list(
  title: string,
  path: string,
  text: string,
  { names, total }: FoundNames,
  url: (name: string) => string,
  titleOf = (name: string) => name,
): Html {
  const rest = total - names.length;
  return markup`
    <h2>${title} <span class="dim">${total}</span></h2>
    <table><tbody>${
    names.map((name) =>
      markup`
        <tr><td><a href="${url(name)}" title="${name}">${titleOf(name)}</a></td></tr>
      `
    )
  }</tbody></table>
    ${
    rest > 0 && markup`
      <p><a href="${withQuery(path, { q: text })}">and ${rest} more</a></p>
    `
  }
  `;
}
