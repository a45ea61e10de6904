/** The schemas of the kinds in the stock language server of editors, set up as the page for users says. */
import assert from "node:assert/strict";
import { LanguageServer, languageServer } from "./language_server.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const page = Deno.readTextFileSync(`${root}/docs/users/folder.md`).split(
  "\n## In an editor\n",
)[1]!.split("\n## ")[0]!;
const missing = "missing" in languageServer ? languageServer.missing : undefined;
const program = "program" in languageServer ? languageServer.program : "";

/** The page's line for a single file. */
const line = /```yaml\n(# yaml-language-server: [^\n]*)\n```/.exec(page)![1]!;

/** The page's settings. */
const settings = JSON.parse(
  /```json\n([\s\S]*?)```/.exec(page)![1]!,
)["yaml.schemas"] as Record<string, string[]>;

const WRONG = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews, namespace: shop }
spec:
  hosts: [reviews]
  http:
    - timeout: 5 bananas
      rout: []
      route:
        - destination: { host: reviews }
          weight: many
`;

const RIGHT = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: ratings, namespace: shop }
spec:
  hosts: [ratings]
  http:
    - timeout: 5s
      route: [{ destination: { host: ratings } }]
`;

function editorTest(name: string, fn: (folder: string) => Promise<void>): void {
  Deno.test({
    name: missing === undefined ? name : `${name} (ignored: ${missing})`,
    ignore: missing !== undefined,
    fn: async () => {
      const folder = await Deno.makeTempDir({ prefix: "mesh-editor-" });
      await Deno.mkdir(`${folder}/mesh`);
      // The page's paths lead to the schemas of this tree.
      for (const place of ["pilot", "docs"]) {
        const target = place === "docs" ? `${root}/docs` : root;
        await new Deno.Command("ln", {
          args: ["-s", target, `${folder}/${place}`],
        }).output();
      }
      try {
        await fn(folder);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}

editorTest(
  "by the page's line, wrong fields and values of a file are marked",
  async (folder) => {
    const file = `${folder}/mesh/routes.yaml`;
    await Deno.writeTextFile(file, `${line}\n${WRONG}`);
    await using server = await LanguageServer.start(program, folder);
    const marks = await server.open(file);
    const at = (number: number) =>
      marks.filter((mark) => mark.line === number).map(({ message }) => message)
        .join();
    assert.equal(marks.length, 3, JSON.stringify(marks));
    assert.match(at(7), /does not match the pattern/);
    assert.match(at(8), /Property rout is not allowed/);
    assert.match(at(11), /Incorrect type\. Expected "integer/);
  },
);

editorTest(
  "by the page's line, the fields of a place are offered, and a field's description is shown",
  async (folder) => {
    const file = `${folder}/mesh/routes.yaml`;
    await Deno.writeTextFile(file, `${line}\n${RIGHT}      \n`);
    await using server = await LanguageServer.start(program, folder);
    assert.deepEqual(await server.open(file), []);
    const offered = await server.complete(file, 9, 6);
    for (
      const field of ["retries", "fault", "mirrors", "corsPolicy", "headers"]
    ) {
      assert.ok(offered.includes(field), `${field} of ${offered}`);
    }
    assert.match(
      await server.hover(file, 7, 8),
      /Longest time of the whole request/,
    );
  },
);

editorTest(
  "the page's line holds for its document, and so stands in each document of a file",
  async (folder) => {
    const file = `${folder}/mesh/routes.yaml`;
    await using server = await LanguageServer.start(program, folder);
    await Deno.writeTextFile(file, `${line}\n${RIGHT}---\n${WRONG}`);
    assert.deepEqual(await server.open(file), []);
    await Deno.writeTextFile(
      `${file}2.yaml`,
      `${line}\n${RIGHT}---\n${line}\n${WRONG}`,
    );
    assert.equal((await server.open(`${file}2.yaml`)).length, 3);
  },
);

editorTest(
  "by the page's settings, every document of a file is judged, and a misspelled kind is marked",
  async (folder) => {
    const file = `${folder}/mesh/routes.yaml`;
    const kind = RIGHT.replace("kind: VirtualService", "kind: VirtualServic");
    await Deno.writeTextFile(file, `${RIGHT}---\n${WRONG}---\n${kind}`);
    await using server = await LanguageServer.start(program, folder, {
      schemas: settings,
    });
    const messages = (await server.open(file)).map(({ message }) => message);
    assert.equal(messages.length, 4, messages.join("\n"));
    assert.ok(
      messages.some((message) => /Value is not accepted[^]*"VirtualService"/.test(message)),
      messages.join("\n"),
    );
  },
);

editorTest(
  "by the page's settings, the mesh configuration has its own schema",
  async (folder) => {
    const file = `${folder}/meshConfig.yaml`;
    await Deno.writeTextFile(
      file,
      "accessLogFile: /dev/stdout\nacessLogFormat: x\n",
    );
    await using server = await LanguageServer.start(program, folder, {
      schemas: settings,
    });
    const marks = await server.open(file);
    assert.deepEqual(marks.map(({ line }) => line), [1], JSON.stringify(marks));
  },
);

editorTest("no object of the examples is marked", async (folder) => {
  const schemas = {
    [`${root}/docs/reference/schemas/mesh.json`]: ["**/*.yaml"],
  };
  await using server = await LanguageServer.start(program, folder, { schemas });
  let opened = 0;
  for (
    const example of [
      "tour",
      "shop",
      "gateway-api",
      "istio-spelling",
      "first-steps/mesh",
    ]
  ) {
    for (const { name } of Deno.readDirSync(`${root}/examples/${example}`)) {
      assert.deepEqual(
        await server.open(`${root}/examples/${example}/${name}`),
        [],
        `${example}/${name}`,
      );
      opened++;
    }
  }
  assert.ok(opened > 8);
});
