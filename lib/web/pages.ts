/**
 * The list of all pages for people.
 *
 * @module
 */
import { PAGES } from "../debug/pages.ts";
import { type HtmlValue, markup } from "./html.ts";
import { table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";

/** The page: those that GET has. */
export const pagesPage: WebPageMaker = (): WebPage => {
  const read = PAGES.filter(({ methods = ["GET"] }) => methods.includes("GET"));
  const sorted = [...read].sort((a, b) => (a.path < b.path ? -1 : 1));
  const rows = sorted.map(({ path, help }): HtmlValue[] => [markup`<a href="/debug/${path}">${path}</a>`, help]);
  return { title: "All pages", body: markup`${table(["Page", "Content"], rows, "There is none.")}` };
};
