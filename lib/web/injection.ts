/**
 * Injection for people: the place of its configuration, its problems, and the pods that have no proxy.
 *
 * @module
 */
import { markup } from "./html.ts";
import { listPart, pageLinks, searched, table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml } from "./words.ts";

/** The page; query `q` searches pods. */
export const injectionPage: WebPageMaker = (request, { injection }): WebPage => {
  const title = "Injection";
  if (injection === undefined) {
    return {
      title,
      body: markup`
        <p>This server injects nothing: INJECT_ENABLED is false, or it serves no webhooks.</p>
      `,
    };
  }
  const { place, problems, config, values } = injection.configuration;
  const state = problems.length > 0
    ? stateHtml({ tone: "bad", word: place === undefined ? "no pod is injected" : "the last good one is in force" })
    : stateHtml({ tone: "good", word: "in force" });
  const holds = searched(request);
  const part = listPart([...injection.missed()].filter(({ namespace, pod }) => holds(`${namespace}/${pod}`)), request);
  const rows = part.items.map(({ namespace, pod, owner }) => [namespace, pod, owner]);
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
      <h2 id="missed">Pods that should have a proxy and have none</h2>
      ${table(["Namespace", "Pod", "Made by"], rows, "There is none.")}${pageLinks(part, request)}
      <h2 id="config">Configuration</h2><pre>${JSON.stringify(config ?? {}, null, 2)}</pre>
      <h2 id="values">Values</h2><pre>${JSON.stringify(values ?? {}, null, 2)}</pre>
    `,
  };
};
