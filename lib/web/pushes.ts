/**
 * Pushes for people: a picture and a table, rejections of proxies, and resources that could not be made.
 *
 * @module
 */
import { FAILURES, PUSHES, REJECTIONS } from "../debug/pushes.ts";
import { markup } from "./html.ts";
import { tableOf } from "./list_page.ts";
import { timeline } from "./timeline.ts";
import type { WebPage, WebPageMaker } from "./view.ts";

/** The page. The ledger keeps few pushes, so a single part shows all of them. */
export const pushesPage: WebPageMaker = (_request, { xds: { ledger } }): WebPage => {
  const pushes = ledger.pushes();
  return {
    title: PUSHES.title,
    live: "push",
    body: markup`${timeline(pushes)}${tableOf(PUSHES, pushes, undefined)}
<h2 id="rejections">Rejected by proxies</h2>${tableOf(REJECTIONS, ledger.rejections(), undefined)}
<h2 id="failures">Could not be made</h2>${tableOf(FAILURES, ledger.failures(), undefined)}`,
  };
};
