/**
 * The pages with commands for files are true: each block of text behind a command is the command's output, to the
 * letter.
 */
import assert from "node:assert/strict";
import { shownCommand } from "./shown_command.ts";

const root = new URL("../..", import.meta.url).pathname;
const PAGES = ["commands.md", "gateway_api.md"];

/** Commands and the output on the pages. */
const shown = PAGES.map((name) => Deno.readTextFileSync(`${root}docs/users/${name}`)).flatMap((page) => [
  ...page.matchAll(
    /^```sh\n((?:[^\n]* \| )?pilot-discovery [^\n]*)\n```\n\n```(?:text|json|yaml|diff)\n([\s\S]*?)^```/gm,
  ),
]).map(([, command = "", text = ""]) => ({ command, text }));

Deno.test("the pages show outputs", () => {
  assert.ok(shown.length > 2);
});

for (const { command, text } of shown) {
  Deno.test(`the page is true of: ${command}`, async () => {
    const printed = await shownCommand(command);
    assert.equal(printed.text, text, printed.trouble);
  });
}
