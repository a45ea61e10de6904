/** A contributor's first hour is true: the commands for tests run tests, and the pages exist. */
import assert from "node:assert/strict";
import { PAGES } from "../../lib/debug/pages.ts";
import { envoyPath } from "../envoy/path.ts";

const root = new URL("../..", import.meta.url).pathname;
const text = Deno.readTextFileSync(`${root}docs/contributors/first_hour.md`);

/** Lines of the shell blocks without their remarks. */
const commands = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, block]) => block!.trim().split("\n")).map((line) => line.replace(/\s+#.*/, ""));

for (const command of commands.filter((line) => line.startsWith("deno task test tests/"))) {
  Deno.test({
    name: `the page's command runs tests: ${command}`,
    ignore: command.includes("TLS") && envoyPath() === undefined,
    fn: async () => {
      const words = [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
      const env = { NO_COLOR: "1" };
      const run = new Deno.Command(Deno.execPath(), { args: words.slice(1), cwd: root, env, stderr: "null" });
      const { code, stdout } = await run.output();
      const output = new TextDecoder().decode(stdout);
      assert.equal(code, 0, output);
      assert.match(output.trimEnd().split("\n").at(-1)!, /^[1-9]\d* passed, 0 failed, 0 skipped$/);
    },
  });
}

Deno.test("the page shows commands for one group, one file and one test", () => {
  assert.equal(commands.filter((line) => line.startsWith("deno task test tests/")).length, 3);
});

Deno.test("the pages that the page names are the server's", () => {
  const named = [...text.matchAll(/8080\/debug\/(\w+)/g)].map(([, path]) => path!);
  assert.ok(named.length >= 5);
  const known = new Set(PAGES.map(({ path }) => path));
  assert.deepEqual(named.filter((path) => !known.has(path)), []);
});
