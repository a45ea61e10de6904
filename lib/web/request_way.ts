/**
 * The way of a request over both proxies, in the words of the command `explain`.
 *
 * @module
 */
import type { ExplainedEnd, ExplainedHop, ExplainedShare, ExplainedStep, Explanation } from "../debug/explanation.ts";
import { type ExplainAsked, NotExplained } from "../debug/runners.ts";
import type { DebugView } from "../debug/view.ts";
import { type Html, markup } from "./html.ts";
import { objectUrl, proxyUrl } from "../debug/links.ts";
import type { StateWord } from "../debug/list_page.ts";
import { stateHtml } from "./words.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";

/** The way; undefined: this server does not explain requests. */
export async function wayHtml(asked: ExplainAsked, view: DebugView): Promise<Html | undefined> {
  if (view.explainer === undefined) return undefined;
  try {
    return explanationHtml(await view.explainer.explain(asked, view));
  } catch (error) {
    if (error instanceof NotExplained) return markup`<p>${stateHtml({ tone: "bad", word: error.message })}</p>`;
    throw error;
  }
}

function explanationHtml({ request, hops, end, shares, mirrors, notes }: Explanation): Html {
  const [first, ...others] = hops;
  const ways = shares.length > 0
    ? shares.map(shareHtml)
    : markup`${others.map(hopHtml)}<div class="verdict ${toneOf(end)}">${endHtml(end)}</div>`;
  return markup`<p class="dim">dialled: ${request.destination}${notes.map((note) => markup`<br>${note}`)}</p>
${first !== undefined && hopHtml(first)}${ways}${mirrors.map(mirrorHtml)}`;
}

function mirrorHtml({ share, cluster, hop, end }: ExplainedShare): Html {
  return markup`<section><h3>a copy of ${percent(share)} to ${cluster}</h3>${hop !== undefined && hopHtml(hop)}
<div class="verdict ${toneOf(end)}">${endHtml(end)}</div><p class="dim">The answer is thrown away.</p></section>`;
}

function shareHtml({ share, cluster, hop, end }: ExplainedShare): Html {
  return markup`<section><h3>${percent(share)} to ${cluster}</h3>${hop !== undefined && hopHtml(hop)}
<div class="verdict ${toneOf(end)}">${endHtml(end)}</div></section>`;
}

function hopHtml({ proxy, steps }: ExplainedHop): Html {
  const name = `${profileOf(proxy.type).noun} ${proxy.namespace}/${proxy.name}`;
  return markup`<h3><a href="${proxyUrl(proxy.id)}">${name}</a></h3><ol>${steps.map(stepHtml)}</ol>`;
}

function stepHtml({ what, name, matches, text, object, place }: ExplainedStep): Html {
  const verdict = matches === undefined ? text : `${matches ? "yes" : "no"}: ${text}`;
  const where = place === undefined ? "" : ` ${place.file}:${place.line}`;
  return markup`<li>${[what, name].filter(Boolean).join(" ")}${verdict !== "" && ` — ${verdict}`}${
    object !== undefined && markup` ← <a href="${objectUrl(object)}">${object}</a>`
  }<span class="dim mono">${where}</span></li>`;
}

function endHtml(end: ExplainedEnd): Html {
  return stateHtml({ tone: toneOf(end), word: end.text });
}

function toneOf({ kind, status = 200 }: ExplainedEnd): StateWord["tone"] {
  if (kind === "unknown") return "warn";
  return kind === "forwarded" || (kind === "answered" && status < 400) ? "good" : "bad";
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}
