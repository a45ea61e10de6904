/**
 * An object for people: whether and where it is in force, why not, its text, its neighbours and its pushes.
 *
 * @module
 */
import { dump } from "js-yaml";
import * as z from "zod";
import { type Finding, findingKeys } from "../finding/finding.ts";
import { describeOrigin, type Origin, writtenKey } from "../finding/origin.ts";
import { writtenForm } from "../config/kinds/written.ts";
import type { ConfigObject } from "../config/types.ts";
import { live } from "../debug/live.ts";
import type { DebugView } from "../debug/view.ts";
import { counted } from "../debug/words.ts";
import type { HttpRequest } from "../http/message.ts";
import { bodyText } from "../http/message.ts";
import { FINDINGS, findingsOf } from "../debug/findings.ts";
import { OBJECTS } from "../debug/objects.ts";
import { PUSHES } from "../debug/pushes.ts";
import { ambientLinks } from "./ambient_links.ts";
import { type Html, markup } from "./html.ts";
import { objectUrl } from "../debug/links.ts";
import { neighbourhood } from "./neighbourhood.ts";
import { listPage, tableOf } from "./list_page.ts";
import type { ObjectArrow } from "./arrow.ts";
import { arrowsOf } from "./references.ts";
import { sourceHtml, sourceText } from "./source_text.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import type { StateWord } from "../debug/list_page.ts";
import { stateHtml } from "./words.ts";

/** The shown fields of the answer of `/debug/live`. */
const LIVE_ANSWER = z.object({
  object: z.string(),
  everywhere: z.boolean(),
  why: z.array(z.string()),
  live: z.number(),
  total: z.number(),
  push: z.number().optional(),
  tunnels: z.object({ wanted: z.number(), acknowledged: z.number() }).optional(),
});

type LiveAnswer = z.infer<typeof LIVE_ANSWER>;

const objectsPage = listPage(OBJECTS);

/** The page; query `object` (`kind/namespace/name`). Without the query: the list. */
export const objectPage: WebPageMaker = async (request, view) => {
  if (!request.query.get("object")) return await objectsPage(request, view);
  const answer = await live(withoutWait(request), view);
  const text = typeof answer.body === "string" ? answer.body : bodyText({ ...request, body: answer.body });
  if (answer.headers?.["content-type"] !== "application/json") {
    return { status: answer.status, title: "No such object", body: markup`<p>${text}</p>` };
  }
  const state = LIVE_ANSWER.parse(JSON.parse(text));
  return await pageOf(state, view);
};

/** A page is shown at once. A client that wants to wait asks for JSON. */
function withoutWait(request: HttpRequest): HttpRequest {
  return { ...request, query: new URLSearchParams({ object: request.query.get("object") ?? "" }) };
}

async function pageOf(state: LiveAnswer, view: DebugView): Promise<WebPage> {
  const key = state.object;
  const object = objectAt(key, view);
  const findings = findingsOf(view).filter((one) => findingKeys(one).includes(key));
  const arrows = arrowsOf(key, view);
  const nameOf = (one: string) => {
    const known = objectAt(one, view);
    return known === undefined ? one : writtenKey(known);
  };
  const neighbours = neighbourhood(key, arrows, nameOf);
  const pushes = view.xds.ledger.pushes().filter(({ objects }) => objects.some((one) => one.key === key));
  return {
    // A refused object has a page, too.
    status: object === undefined && findings.length === 0 ? 404 : 200,
    title: object === undefined ? key : writtenKey(object),
    copied: object === undefined ? key : writtenKey(object),
    live: "push",
    body: markup`${verdict(state, object, findings, view)}${
      findings.length > 0 && tableOf(FINDINGS, findings, undefined)
    }
${ambientLinks(key, view)}${await texts(key, object, findings, view)}
<h2>Tied to</h2>${
      neighbours === undefined
        ? markup`<p class="dim">The object names no other object, and no other object names this one.</p>`
        : markup`<div class="graph" tabindex="0" role="region" aria-label="Picture">${neighbours}</div>`
    }
${tied(key, arrows, nameOf)}<h2>Its pushes</h2>${tableOf(PUSHES, pushes, undefined, OTHER_PUSHES)}`,
  };
}

const OTHER_PUSHES = "None of the last pushes changed the object.";

/** The object in force with a key. */
export function objectAt(key: string, { store }: DebugView): ConfigObject | undefined {
  return store.at(key);
}

function verdict(
  state: LiveAnswer,
  object: ConfigObject | undefined,
  findings: readonly Finding[],
  view: DebugView,
): Html {
  const { everywhere, why, push } = state;
  const refused = object === undefined || findings.some(({ severity }) => severity === "error");
  const tone = everywhere && !refused ? "good" : refused ? "bad" : "warn";
  const word = object === undefined
    ? "No version is in force"
    : verdictWord(state, view.isStale(object) ? "stale" : refused ? "partly" : "whole");
  const from = object !== undefined && push !== undefined && push > 0 &&
    markup`, since push <a href="/debug/pushes#push-${push}">${push}</a>`;
  const where = object && markup`<br><span class="mono">${describeOrigin(object.origin)}</span>`;
  return markup`<div class="verdict ${tone}">${stateHtml({ tone, word } satisfies StateWord)}${from}${where}
${why.length > 0 && markup`<ul>${why.map((reason) => markup`<li>${reason}</li>`)}</ul>`}</div>`;
}

/** Words beside the mark, so that the mark is explained. */
function verdictWord({ live, total, tunnels }: LiveAnswer, how: "stale" | "partly" | "whole"): string {
  const ofTunnels = tunnels && `${tunnels.acknowledged} of ${counted(tunnels.wanted, "node tunnel")}`;
  // A policy of tunnels need not concern any proxy.
  const ofProxies = total > 0 || ofTunnels === undefined ? [`${live} of ${total} proxies`] : [];
  const proxies = [...ofProxies, ...ofTunnels === undefined ? [] : [ofTunnels]].join(" and ");
  if (how === "stale") return `Not in force: ${proxies} have the last good version`;
  return how === "partly" ? `Partly in force: ${proxies} have the accepted part` : `In force on ${proxies}`;
}

/** The present text in the file, beside the last good version if the two differ. */
async function texts(
  key: string,
  object: ConfigObject | undefined,
  findings: readonly Finding[],
  view: DebugView,
): Promise<Html> {
  const errors = findings.filter(({ severity, place }) => severity === "error" && place.origin !== undefined);
  const stale = object !== undefined && view.isStale(object);
  // A refused text may have moved since its last good version was read.
  const origin: Origin | undefined = stale || object === undefined
    ? errors[0]?.place.origin ?? object?.origin
    : object.origin;
  // For a finding about several objects, the field belongs to the first object.
  const own = findings.filter((one) => findingKeys(one)[0] === key);
  const present = origin === undefined ? "The text of the object is not known." : await sourceText(origin);
  const shown = typeof present === "string" ? markup`<p class="dim">${present}</p>` : sourceHtml(present, own);
  if (object === undefined) {
    const heading = errors.length > 0 ? "The present text, refused" : "There is no such object";
    return markup`<h2>${heading}</h2>${shown}`;
  }
  const good = markup`<pre>${dump(writtenForm(object), { lineWidth: 110, noRefs: true })}</pre>`;
  if (stale) {
    return markup`<div class="columns"><section><h2>The present text, refused</h2>${shown}</section>
<section><h2>In force: the last good version</h2>${good}</section></div>`;
  }
  return markup`<h2>Text</h2>${shown}<details><summary>As it was read</summary>${good}</details>`;
}

/** The arrows as lists, for readers who cannot use a picture. */
function tied(key: string, arrows: readonly ObjectArrow[], nameOf: (key: string) => string): Html {
  const list = (
    title: string,
    found: readonly { readonly name: string; readonly href?: string | undefined; readonly missing: boolean }[],
  ) =>
    found.length > 0 &&
    markup`<details><summary>${title} (${found.length})</summary><ul>${
      found.slice(0, MAX_LISTED).map(({ name, href, missing }) =>
        markup`<li>${href === undefined ? name : markup`<a href="${href}">${name}</a>`}${
          missing && " (not there)"
        }</li>`
      )
    }</ul></details>`;
  return markup`${
    list(
      "Refers to",
      arrows.filter(({ from }) => from === key).map(({ to, href, missing }) => ({ name: nameOf(to), href, missing })),
    )
  }${
    list(
      "Referred to by",
      arrows.filter(({ to }) => to === key).map(({ from }) => ({
        name: nameOf(from),
        href: objectUrl(from),
        missing: false,
      })),
    )
  }`;
}

/** Most names in a list of the page. */
const MAX_LISTED = 500;
