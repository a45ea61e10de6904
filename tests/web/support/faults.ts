/**
 * What is wrong with the look of a page in a browser, found from the computed styles and boxes of its elements.
 *
 * @module
 */
import type { Tab } from "./browser.ts";

/** Widths of windows, px. */
export const WIDTHS = [1400, 800, 390] as const;

export type ColourScheme = "light" | "dark";

export const SCHEMES: readonly ColourScheme[] = ["light", "dark"];

/** Faults of boxes, which differ with the width, as short texts. A frame that scrolls cuts nothing. */
const BOXES = `(() => {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1);
    const names = wide.slice(-2).map((one) => one.tagName + "." + one.getAttribute("class") + " " + one.textContent.slice(0, 60));
    found.push("overflows by " + (root.scrollWidth - root.clientWidth) + ": " + names);
  }
  const cut = [...document.querySelectorAll("main *:not(textarea):not(input):not(select):not(svg *)")].filter((one) =>
    /hidden|clip/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1 && !one.title);
  if (cut.length > 0) found.push("cut: " + cut.slice(0, 2).map((one) => one.tagName));
  const broken = [...document.querySelectorAll("code.whole, .state")].filter((one) => one.getClientRects().length > 1);
  if (broken.length > 0) found.push("in two lines: " + broken[0].textContent);
  return found;
})()`;

/** Faults of texts, which are the same in every width: no navigation, no title, ids in place of names. */
const TEXTS = `(() => {
  const found = [];
  if (document.querySelectorAll("header nav a").length < 7) found.push("no navigation");
  const title = document.querySelector("h1")?.innerText ?? "";
  if (title === "" || /^.debug|~/.test(title)) found.push("no title: " + title);
  const ids = [...document.querySelectorAll("main a")].filter((one) => /^[a-z]+~[^~]*~[^~]+~/.test(one.textContent));
  if (ids.length > 0) found.push("a node id as a link: " + ids[0].textContent);
  const short = [...document.querySelectorAll("svg text")].filter((one) =>
    /…$/.test(one.textContent) && !one.closest("g, a")?.querySelector("title"));
  if (short.length > 0) found.push("shortened without a title: " + short[0].textContent);
  return found;
})()`;

/** Texts with a contrast below 4.5:1 (WCAG, level AA), each class of elements once. */
const CONTRASTS = `(() => {
  const channels = (text) => (text.match(/[0-9.]+/g) ?? []).map(Number);
  const luminance = (rgb) => rgb.slice(0, 3).map((one) => one / 255)
    .map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const opaque = (text) => { const [, , , alpha = 1] = channels(text); return text !== "none" && alpha > 0; };
  const ground = (one) => {
    const box = one instanceof SVGElement ? one.closest("g, a")?.querySelector("rect") : undefined;
    if (box && opaque(getComputedStyle(box).fill)) return getComputedStyle(box).fill;
    for (let at = one; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (opaque(backgroundColor)) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const found = new Map();
  let texts = 0;
  const look = (one, colour) => {
    texts++;
    const ratio = contrast(luminance(channels(colour)), luminance(channels(ground(one))));
    const name = one.tagName + "." + (one.getAttribute("class") ?? "");
    if (ratio < 4.5 && !found.has(name)) found.set(name, name + " " + ratio.toFixed(2) + ": " + (one.textContent ?? "").slice(0, 30));
  };
  for (const one of document.querySelectorAll("body *")) {
    if (one instanceof HTMLInputElement && one.placeholder) look(one, getComputedStyle(one, "::placeholder").color);
    if (![...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "")) continue;
    if (one.closest("title, defs, option") || !one.checkVisibility()) continue;
    look(one, one instanceof SVGElement ? getComputedStyle(one).fill : getComputedStyle(one).color);
  }
  return texts < 8 ? ["no texts"] : [...found.values()];
})()`;

/** Sets the width of the window, px. */
export async function setWidth(tab: Tab, width: number): Promise<void> {
  await tab.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
}

/** Sets the reader's choice of colours. */
export async function setScheme(tab: Tab, value: ColourScheme): Promise<void> {
  await tab.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
}

async function textsOf(tab: Tab, expression: string): Promise<readonly string[]> {
  const found = await tab.evaluate(expression);
  return Array.isArray(found) ? found.map(String) : [`not a list: ${found}`];
}

/** What is wrong with the present page, in every width and in both schemes. */
export async function faultsOf(tab: Tab): Promise<string[]> {
  const found = [...await textsOf(tab, TEXTS)];
  for (const scheme of SCHEMES) {
    await setScheme(tab, scheme);
    found.push(...(await textsOf(tab, CONTRASTS)).map((fault) => `${scheme}: contrast of ${fault}`));
  }
  for (const width of WIDTHS) {
    await setWidth(tab, width);
    found.push(...(await textsOf(tab, BOXES)).map((fault) => `${width} px: ${fault}`));
  }
  return found;
}
