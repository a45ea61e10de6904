/**
 * A page of a whole task, run as a newcomer runs it: in an empty folder, with the README's preparation, by the page's
 * own commands. Runs where the page's ports are free.
 *
 * Permissions: run (bash and the page's programs, chromium), net (loopback), read, write (temporary folders), env
 * (TASK_PAGE, TASK_WRITES).
 *
 * @module
 */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { until } from "../patience.ts";
import { Browser, noBrowser } from "../web/support/browser.ts";
import { type PageStep, pageSteps, printsAsShown, withOutputs } from "./task_page.ts";
import { Terminal } from "./terminal.ts";

const root = new URL("../..", import.meta.url).pathname;

/** The folder for the page with its present outputs, and for its pictures. Undefined: nothing is to be written. */
const writes = Deno.env.get("TASK_WRITES");

/** The README's preparation of a terminal. The runtime of this test stands for `npx -y deno@2.8.3`. */
function preparation(): string {
  const found = [...Deno.readTextFileSync(`${root}README.md`).matchAll(/^```sh\n(export [^\n]*)\n```/gm)];
  assert.equal(found.length, 1, "the README has one preparation of a terminal");
  return found[0]![1]!.replace("npx -y deno@2.8.3", `'${Deno.execPath()}'`);
}

const WIDTH = 960;

/** An expression for the bottom of the first text: a picture ends there. */
const bottomOf = (text: string) =>
  `(() => {
    const shows = (one) => one.getClientRects().length > 0 && (one.innerText ?? one.textContent).replace(/\\s+/g, " ").includes(${
    JSON.stringify(text)
  });
    let place = document.body;
    for (let inner = place; inner !== undefined; inner = [...place.children].find(shows)) place = inner;
    return place.getBoundingClientRect().bottom;
  })()`;

/** Looks at a page of the server: `shows` is on it. */
async function look({ open, picture, shows }: Extract<PageStep, { readonly open: string }>): Promise<void> {
  if (noBrowser !== undefined) return;
  await using browser = await Browser.start();
  const tab = await browser.tab();
  await tab.send("Emulation.setScrollbarsHidden", { hidden: true });
  await tab.send("Emulation.setDeviceMetricsOverride", {
    width: 960,
    height: 500,
    deviceScaleFactor: 1,
    mobile: false,
  });
  await tab.open(open);
  await tab.shows(new RegExp(RegExp.escape(shows).replaceAll("\\x20", "\\s+")), "body");
  if (writes === undefined) return;
  const height = Number(await tab.evaluate(bottomOf(shows))) + 24;
  const clip = { x: 0, y: 0, width: WIDTH, height, scale: 0.8 };
  const { data } = await tab.send("Page.captureScreenshot", { format: "png", clip });
  await Deno.mkdir(dirname(`${writes}/${picture}`), { recursive: true });
  await Deno.writeFile(`${writes}/${picture}`, Uint8Array.fromBase64(String(data)));
}

/** Blocks that change something, or leave something running. */
const CHANGES = /&$|^(?:cp|mv|sed|mkdir|openssl|kill|echo)\b/m;

/**
 * Types a block. A block that only asks is typed again, as people do: an Envoy acknowledges an edit a
 * moment before each of its threads has taken the edit.
 */
async function typed(terminal: Terminal, { run, prints }: Extract<PageStep, { readonly run: string }>) {
  let end = await terminal.run(run);
  if (prints === undefined || writes !== undefined || CHANGES.test(run)) return end;
  const prompted = async () => {
    if (printsAsShown(run, end.text, prints)) return true;
    end = await terminal.run(run);
    return false;
  };
  // The caller compares once more, and shows both texts.
  await until(run, prompted, 300).catch(() => {});
  return end;
}

/** Runs all steps of a page. Returns the outputs that the page shows, in order. */
async function follow(name: string, steps: readonly PageStep[]): Promise<string[]> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-task-" });
  const outputs: string[] = [];
  await using terminal = new Terminal(root);
  const prepared = await terminal.run(`${preparation()}\ncd ${folder}`);
  assert.equal(prepared.code, 0, prepared.text);
  for (const step of steps) {
    if ("save" in step) {
      await Deno.mkdir(dirname(`${folder}/${step.save}`), { recursive: true });
      await Deno.writeTextFile(`${folder}/${step.save}`, step.text);
    } else if ("open" in step) await look(step);
    else {
      const { text, code } = await typed(terminal, step);
      if (step.prints === undefined) assert.equal(code, 0, `${name}: ${step.run}${text}`);
      else outputs.push(text);
      if (step.prints === undefined || writes !== undefined) continue;
      assert.ok(printsAsShown(step.run, text, step.prints), `${step.run}printed\n${text}\nnot\n${step.prints}`);
    }
  }
  const { text } = await terminal.run("wait\njobs -r");
  assert.equal(text, "", "the page ends every program that it started");
  await Deno.remove(folder, { recursive: true });
  return outputs;
}

const page = Deno.env.get("TASK_PAGE");
Deno.test({
  name: `docs/users/${page} is true, step by step`,
  ignore: page === undefined,
  fn: async () => {
    const text = await Deno.readTextFile(`${root}docs/users/${page}`);
    const outputs = await follow(page!, pageSteps(text));
    if (writes !== undefined) await Deno.writeTextFile(`${writes}/${page}`, withOutputs(text, outputs));
  },
});
