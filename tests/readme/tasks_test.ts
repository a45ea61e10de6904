/**
 * The pages of whole tasks are true from the first line to the last: a shell runs each command as it is printed, in an
 * empty folder, and each command prints the text below it on the page.
 */
import assert from "node:assert/strict";
import { inOwnNetwork, withoutOwnNetwork } from "../e2e/support/own_network.ts";
import { envoyPath } from "../envoy/path.ts";
import { shownCommand } from "./shown_command.ts";
import { pageSteps, printsAsShown, resultOf } from "./task_page.ts";

const users = new URL("../../docs/users/", import.meta.url).pathname;
const tasks = [...Deno.readDirSync(users)].map(({ name }) => name).filter((name) => name.startsWith("task_")).sort();
const textOf = (page: string) => Deno.readTextFileSync(`${users}${page}`);

/** Pages about a cluster: their commands for files run, those of `kubectl` do not. */
const OF_CLUSTERS = new Set(["task_ambient.md"]);

Deno.test("there are pages of whole tasks", () => assert.equal(tasks.length, 6));

for (const page of tasks) {
  if (OF_CLUSTERS.has(page)) {
    Deno.test(`the commands for files on docs/users/${page} print what the page shows`, () => filesAlone(page));
    continue;
  }
  const missing = withoutOwnNetwork ?? (envoyPath() === undefined ? "there is no Envoy" : undefined);
  Deno.test({
    name: `docs/users/${page} leads from an empty folder to its result${missing === undefined ? "" : ` (${missing})`}`,
    ignore: missing !== undefined,
    fn: () => followed(page),
  });
  Deno.test(`the result at the top of docs/users/${page} is an output of the page`, () => {
    const text = textOf(page);
    const { texts, pictures } = resultOf(text);
    assert.ok(texts.length + pictures.length > 0, "the page begins with its result");
    const steps = pageSteps(text);
    const outputs = steps.flatMap((step) => "run" in step && step.prints !== undefined ? [step.prints] : []);
    const taken = steps.flatMap((step) => "open" in step ? [step.picture] : []);
    assert.deepEqual(
      texts.filter((text) =>
        !outputs.some((output) => output.includes(text) || printsAsShown("uniq -c", output, text))
      ),
      [],
    );
    assert.deepEqual(pictures.filter((picture) => !taken.includes(picture)), []);
  });
}

/** Follows a page. With `UPDATE_TASKS=1` its outputs and pictures become the present outputs and pictures. */
async function followed(page: string): Promise<void> {
  const file = new URL("./task_run.ts", import.meta.url);
  if (Deno.env.get("UPDATE_TASKS") !== "1") return await inOwnNetwork(file, { variables: { TASK_PAGE: page } });
  const writes = await Deno.makeTempDir();
  await inOwnNetwork(file, { variables: { TASK_PAGE: page, TASK_WRITES: writes } });
  await Deno.copyFile(`${writes}/${page}`, `${users}${page}`);
  for (const step of pageSteps(textOf(page))) {
    if ("open" in step) await Deno.copyFile(`${writes}/${step.picture}`, `${users}${step.picture}`);
  }
  await Deno.remove(writes, { recursive: true });
}

/** Runs the commands of `pilot-discovery` on a page whose other commands need a cluster. */
async function filesAlone(page: string): Promise<void> {
  const steps = pageSteps(textOf(page)).filter((step) =>
    !("run" in step) || /^pilot-discovery [^|\n]*\n$/.test(step.run)
  );
  const top = steps.flatMap((step) => "save" in step ? [step.save.split("/")[0]!] : [])[0]!;
  const folder = await Deno.makeTempDir();
  const here = (text: string) => text.replaceAll(new RegExp(`(?<![\\w/])${top}/`, "g"), `${folder}/${top}/`);
  await Deno.mkdir(`${folder}/${top}/mesh`, { recursive: true });
  let shown = 0;
  for (const step of steps) {
    if ("save" in step) await Deno.writeTextFile(`${folder}/${step.save}`, step.text);
    else if ("run" in step && step.prints !== undefined) {
      const { text, trouble } = await shownCommand(here(step.run.trimEnd()));
      assert.equal(text.replaceAll(`${folder}/`, ""), step.prints, `${step.run}${trouble}`);
      shown++;
    }
  }
  assert.ok(shown > 3, "the page shows outputs");
  await Deno.remove(folder, { recursive: true });
}

Deno.test("each picture of the pages is small, is a PNG, and is on a page", () => {
  const used = new Set(
    tasks.flatMap((page) => [...textOf(page).matchAll(/\]\((pictures\/[\w.]+)\)/g)].map(([, at]) => at)),
  );
  const there = [...Deno.readDirSync(`${users}pictures`)].map(({ name }) => `pictures/${name}`);
  assert.deepEqual(there.toSorted(), [...used].toSorted());
  for (const path of there) {
    const bytes = Deno.readFileSync(`${users}${path}`);
    assert.ok(bytes.length < 60_000, `${path} has ${bytes.length} bytes`);
    assert.equal(new TextDecoder("latin1").decode(bytes.subarray(1, 4)), "PNG", path);
  }
});
