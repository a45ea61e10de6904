/** Each transcript is a real conversation of server and client. */
import assert from "node:assert/strict";
import { played } from "./support/transcript.ts";

const folder = new URL("transcripts/", import.meta.url);
const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

/** The transcripts of a file. Each begins with a comment, its title. */
function transcriptsOf(file: string): { readonly title: string; readonly text: string }[] {
  return Deno.readTextFileSync(new URL(file, folder)).split(/\n(?=# )/).map((text) => ({
    title: text.split("\n")[0]!.slice(2),
    text: `${text.trimEnd()}\n`,
  }));
}

for (const file of files) {
  for (const { title, text } of transcriptsOf(file)) {
    Deno.test(`${file}: ${title}`, () => assert.equal(played(text), text));
  }
}

Deno.test("there are thirty transcripts or more", () => {
  assert.ok(files.flatMap(transcriptsOf).length >= 30);
});
