/**
 * The script of the pages. Every page also works without the script, which adds keys and live parts.
 *
 * - `/` goes to the search box, `j` and `k` through the links of a list, `n` and `p` to the next and previous page.
 * - A page with `data-live="overview"` takes its live part from `/debug/events`. Another page with `data-live` says
 *   that a push has changed something since. A hidden page does not listen.
 * - Buttons with `data-copy` copy their text. Pages over plain HTTP have no clipboard, so a selection is copied there.
 *
 * @module
 */

/** The text of the script. */
export const SCRIPT = `"use strict";
const search = document.querySelector("header input[type=search]");
const rows = () => [...document.querySelectorAll("main table tbody tr a:first-of-type")];
const move = (by) => {
  const links = rows();
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
};
const keys = {
  "/": () => search?.focus(),
  j: () => move(1),
  k: () => move(-1),
  n: () => document.querySelector("a[rel=next]")?.click(),
  p: () => document.querySelector("a[rel=prev]")?.click(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input,select,textarea")) return;
  const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
  if (!act) return;
  event.preventDefault();
  act();
});

const live = document.querySelector("[data-live]");
const changed = document.getElementById("changed");
let source;
const take = ({ data }) => {
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  live.innerHTML = data;
  if (focused) document.getElementById(focused)?.focus();
};
const tell = ({ data }) => {
  if (data !== live.dataset.push) changed.hidden = false;
};
const listen = () => {
  if (!live || document.hidden === !source) return;
  if (document.hidden) {
    source.close();
    source = undefined;
    return;
  }
  source = new EventSource("/debug/events");
  if (live.dataset.live === "overview") source.addEventListener("overview", take);
  else source.addEventListener("push", tell);
  source.addEventListener("open", () => live.dataset.connected = "true");
};
document.addEventListener("visibilitychange", listen);
listen();

const selected = (text) => {
  const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true, className: "aside" });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
};
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return selected(text);
  }
};
for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-copy]");
  if (!button) return;
  button.textContent = await copy(button.dataset.copy) ? "Copied" : "Cannot copy";
  setTimeout(() => button.textContent = "Copy", 2000);
});
`;
