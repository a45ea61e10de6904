/**
 * The pages of whole tasks are true from the first line to the last: files are saved, and each command prints the text
 * below it on the page.
 */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { shownCommand } from "./shown_command.ts";

const root = new URL("../..", import.meta.url).pathname;
const tasks = [...Deno.readDirSync(`${root}docs/users`)].map(({ name }) => name).filter((name) =>
  name.startsWith("task_")
).sort();

/** Steps of a page, in order. */
type Step =
  | { readonly save: string; readonly text: string }
  | { readonly command: string; readonly prints: string };

function stepsOf(page: string): Step[] {
  const steps =
    /save as\s+`([\w./-]+)`:\n\n```yaml\n([\s\S]*?)^```|^```sh\n(pilot-discovery [^\n]*)\n```\n\n```text\n([\s\S]*?)^```/gim;
  return [...page.matchAll(steps)].map(([, save, text = "", command = "", prints = ""]) =>
    save === undefined ? { command, prints } : { save, text }
  );
}

for (const task of tasks) {
  Deno.test(`docs/users/${task} is true, step by step`, async () => {
    const steps = stepsOf(Deno.readTextFileSync(`${root}docs/users/${task}`));
    const saved = steps.flatMap((step) => "save" in step ? [step.save] : []);
    assert.ok(saved.length > 1 && steps.length > saved.length + 1, "the page has files and commands");
    const top = saved[0]!.split("/")[0]!;
    const folder = await Deno.makeTempDir();
    const here = (text: string) => text.replaceAll(new RegExp(`(?<![\\w/])${top}/`, "g"), `${folder}/`);
    for (const step of steps) {
      if ("save" in step) {
        // A page that changes a folder copies the folder first.
        const at = dirname(here(step.save));
        const isNew = await Deno.stat(at).then(() => false, () => true);
        await Deno.mkdir(at, { recursive: true });
        for (const other of isNew ? saved.slice(0, saved.indexOf(step.save)) : []) {
          await Deno.copyFile(here(other), `${at}/${other.split("/").at(-1)}`);
        }
        await Deno.writeTextFile(here(step.save), step.text);
      } else {
        const { text, trouble } = await shownCommand(here(step.command));
        assert.notEqual(text, "", trouble);
        assert.equal(text.replaceAll(`${folder}/`, `${top}/`), step.prints, step.command);
      }
    }
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("there are pages of whole tasks", () => assert.equal(tasks.length, 3));
