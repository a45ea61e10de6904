/**
 * The list of all pages for people.
 *
 * @module
 */
import type { ListTable } from "../debug/list_page.ts";
import { type Page, PAGES } from "../debug/pages.ts";
import { tableOf } from "./list_page.ts";
import type { WebPage, WebPageMaker } from "./view.ts";

const ALL_PAGES: ListTable<Page, void> = {
  noun: "page",
  none: "There is no page.",
  columns: [
    { title: "Page", cell: ({ path }) => ({ text: path, link: `/debug/${path}` }) },
    { title: "Content", cell: ({ help }) => help },
  ],
};

/** The pages with the method GET. */
export const pagesPage: WebPageMaker = (): WebPage => {
  const read = PAGES.filter(({ methods = ["GET"] }) => methods.includes("GET"));
  const sorted = read.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { title: "All pages", body: tableOf(ALL_PAGES, sorted, undefined) };
};
