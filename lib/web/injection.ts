/**
 * Injection for people: the place of its configuration, its problems, and the pods without a proxy.
 *
 * @module
 */
import { markup } from "./html.ts";
import type { InjectionView } from "../debug/view.ts";
import type { ListTable } from "../debug/list_page.ts";
import { filteredTable } from "./list_page.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml } from "./words.ts";

type UninjectedPod = ReturnType<InjectionView["missed"]> extends Iterable<infer Pod> ? Pod : never;

const MISSED_PODS: ListTable<UninjectedPod, void> = {
  noun: "pod",
  none: "Every pod that should have a proxy has one.",
  searched: ({ namespace, pod }) => `${namespace}/${pod}`,
  columns: [
    { title: "Namespace", cell: ({ namespace }) => namespace },
    { title: "Pod", cell: ({ pod }) => pod },
    { title: "Made by", cell: ({ owner }) => owner },
  ],
};

/** The page; query `q` searches pods. */
export const injectionPage: WebPageMaker = (request, { injection }): WebPage => {
  const title = "Injection";
  if (injection === undefined) {
    return {
      title,
      body: markup`
        <p>This server injects nothing: INJECT_ENABLED is false, or the server serves no webhooks.</p>
      `,
    };
  }
  const { place, problems, config, values } = injection.configuration;
  const state = problems.length > 0
    ? stateHtml({
      tone: "bad",
      word: place === undefined ? "no pod is injected" : "the last good configuration is in force",
    })
    : stateHtml({ tone: "good", word: "in force" });
  return {
    title,
    body: markup`
      <p>Configuration: ${place ?? "none yet"} ${state}</p>
      <ul>${
      problems.map((problem) =>
        markup`
          <li>${problem}</li>
        `
      )
    }</ul>
      <h2 id="missed">Pods without the proxy that they should have</h2>
      ${filteredTable(MISSED_PODS, [...injection.missed()], undefined, request)}
      <h2 id="config">Configuration</h2><pre>${JSON.stringify(config ?? {}, null, 2)}</pre>
      <h2 id="values">Values</h2><pre>${JSON.stringify(values ?? {}, null, 2)}</pre>
    `,
  };
};
