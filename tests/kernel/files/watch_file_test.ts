/** Immediate reports about a watched file, and second reads before a report; `tests/folder/watch_test.ts` watches. */
import assert from "node:assert/strict";
import { looksUnfinished } from "../../../lib/kernel/files/watch_file.ts";

const cases = [
  { name: "a file that is being made is empty first", now: "", written: "", unfinished: true },
  { name: "a file that is being made ends within a line", now: "trustDom", written: "", unfinished: true },
  { name: "an edited file is empty first", now: "", written: "a: 1\n", unfinished: true },
  { name: "an edited file ends within a line", now: "a: 1\nb", written: "a: 1\n", unfinished: true },
  { name: "a file that is gone may be replaced", now: undefined, written: "a: 1\n", unfinished: true },
  { name: "a file that never was is not there", now: undefined, written: "", unfinished: false },
  { name: "a whole new file", now: "a: 1\n", written: "", unfinished: false },
  { name: "a whole edited file", now: "a: 2\n", written: "a: 1\n", unfinished: false },
  { name: "a file whose last line never has an end", now: "a: 2", written: "a: 1", unfinished: false },
  { name: "a file that cannot be read", now: { unreadable: "is a directory" }, written: "a: 1\n", unfinished: false },
];

for (const { name, now, written, unfinished } of cases) {
  Deno.test(`${name}: ${unfinished ? "read again before it is reported" : "reported at once"}`, () => {
    assert.equal(looksUnfinished(now, written), unfinished);
  });
}
