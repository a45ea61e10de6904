/**
 * The caches of translation for people: the number and the size of the cached resources of each type.
 *
 * @module
 */
import { cachedTypes } from "../translate/machine/cache/content.ts";
import { paced } from "../kernel/time/paced.ts";
import { type HtmlValue, markup } from "./html.ts";
import { table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { bytesText } from "../debug/words.ts";

export const cachesPage: WebPageMaker = async ({ host, signal }, { translator }): Promise<WebPage> => {
  const types = [...await paced(cachedTypes(translator.caches), { signal })].sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = types.map(([type, { names, bytes }]): HtmlValue[] => [
    markup`<span class="mono">${type.slice(type.lastIndexOf("/") + 1)}</span>`,
    names.size,
    bytesText(bytes),
  ]);
  const { hits, misses, cleared, crowdedOut } = translator.caches.stats();
  return {
    title: "Caches",
    live: "push",
    body: markup`${table(["Type", "Names", "Size"], rows, "The caches are empty.")}
<p>Since the start of the caches: ${hits} results found, ${misses} built, ${cleared} dropped by changes, ${crowdedOut}
crowded out by other results of the same name.</p>
<p>To build everything again: <code>curl -X POST 'http://${host}/debug/cachez?clear=true'</code></p>`,
  };
};
