/**
 * The npm package of the library: installed into an empty folder, the package type-checks and runs the page's examples.
 */
import assert from "node:assert/strict";
import {
  dependenciesOf,
  packagedPage,
  packLibrary,
  reachableFrom,
  withPackagedImports,
} from "../../scripts/package.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const CI = Deno.env.get("CI") !== undefined;

async function run(name: string, args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const { success, stdout, stderr } = await new Deno.Command(name, { args: [...args], cwd, env, stdin: "null" })
    .output();
  const text = new TextDecoder();
  return { success, all: text.decode(stdout) + text.decode(stderr) };
}

async function hasNpm(): Promise<boolean> {
  try {
    return (await run("npm", ["--version"], "/tmp")).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const IS_POSSIBLE = CI || await hasNpm();

/** The page's examples as files of a user, by name. */
function examplesOf(page: string): Record<string, string> {
  const codes = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  return Object.fromEntries(codes.map((code, at) => [`example_${at}.ts`, code]));
}

Deno.test({
  name: `the packed library runs the page's examples in an empty folder, type-checked, and names its dependencies${
    IS_POSSIBLE ? "" : " (ignored: npm is not installed)"
  }`,
  ignore: !IS_POSSIBLE,
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const tarball = await packLibrary(folder, Deno.execPath());
      const user = `${folder}/user`;
      await Deno.mkdir(user);
      await Deno.writeTextFile(`${user}/package.json`, '{ "name": "user", "private": true, "type": "module" }\n');
      await Deno.writeTextFile(`${user}/deno.json`, '{ "nodeModulesDir": "manual", "unstable": ["net"] }\n');
      const installed = await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", tarball], user);
      assert.ok(installed.success, installed.all);
      assert.ok((await run("cp", ["-r", `${ROOT}examples`, user], user)).success);
      const page = packagedPage(await Deno.readTextFile(`${ROOT}docs/users/library.md`), "@mesh/pilot");
      const examples = { ...examplesOf(page), "server.ts": SERVER };
      assert.ok(Object.keys(examples).length > 4);
      for (const [name, code] of Object.entries(examples)) await Deno.writeTextFile(`${user}/${name}`, code);
      const checked = await run(Deno.execPath(), ["check", ...Object.keys(examples)], user);
      assert.ok(checked.success, checked.all);
      // Each example is checked separately; a run asks nothing of the network.
      for (const name of Object.keys(examples)) {
        const net = name === "server.ts" ? ["--allow-net=127.0.0.1", "--allow-write=/tmp", "--allow-sys"] : [];
        const args = ["run", "--no-prompt", "--cached-only", "--allow-read", "--allow-env", ...net, name];
        const ran = await run(Deno.execPath(), args, user);
        assert.ok(ran.success, `${name}: ${ran.all}`);
      }
      const wrong = `import { analyze } from "@mesh/pilot";\nawait analyze({ file: {} });\n`;
      await Deno.writeTextFile(`${user}/wrong.ts`, wrong);
      const refused = await run(Deno.execPath(), ["check", "wrong.ts"], user, { NO_COLOR: "1" });
      assert.match(refused.all, /'file' does not exist in type 'AnalyzeRequest'/);
      const inNode = await run("node", ["--input-type=module", "--eval", 'import "@mesh/pilot"'], user);
      assert.match(inNode.all, /this package needs Deno 2\.8 or newer/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

const SERVER = `import { startServer } from "@mesh/pilot";
const server = await startServer({ configDir: await Deno.makeTempDir() });
const origin = \`http://127.0.0.1:\${server.ports.http}\`;
const ready = await fetch(\`\${origin}/ready\`);
await ready.body?.cancel();
const body = JSON.stringify({ files: { "a.yaml": "apiVersion: networking.mesh.io/v1\\nkind: Gateway\\n" } });
const preview = await fetch(\`\${origin}/debug/preview\`, { method: "POST", body });
const { findings } = await preview.json();
await server.stop();
if (ready.status !== 200) throw new Error(String(ready.status));
if (findings.appeared.length === 0) throw new Error(JSON.stringify(findings));
`;

Deno.test("a program in another folder imports mod.ts by path, with one line in its deno.json", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ importMap: `${ROOT}deno.json` }));
    const code = `import { analyze } from "${ROOT}mod.ts";\nconsole.log((await analyze({ files: {} })).objects);\n`;
    await Deno.writeTextFile(`${folder}/main.ts`, code);
    const args = ["run", "--quiet", "--no-prompt", "--allow-read", "--allow-env", "main.ts"];
    const { success, all } = await run(Deno.execPath(), args, folder);
    assert.ok(success && all.trim() === "0", all);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("what is packed is what mod.ts imports: descriptors, no programs, pinned dependencies", () => {
  const { files, names } = reachableFrom("mod.ts");
  assert.ok(files.includes("proto/gen/descriptor.json") && files.includes("lib/analyze/analysis.ts"));
  assert.deepEqual(files.filter((file) => !/^(?:mod\.ts$|lib\/|proto\/gen\/)/.test(file)), []);
  const { imports } = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`));
  const dependencies = dependenciesOf(names, imports);
  assert.ok("protobufjs" in dependencies && !("fast-check" in dependencies) && !("ajv" in dependencies));
  for (const version of Object.values(dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.throws(() => dependenciesOf(["left-pad"], imports), /import left-pad/);
});

Deno.test("neighbours are named by the package's files, other texts stay", () => {
  const before =
    `import { a } from "./a.ts";\nexport * from "../b/c.ts";\nimport("./d.ts");\nconst text = "./e.ts";\n` +
    `type T = import("file://${ROOT}lib/x/y.ts").Y;\nimport z from "zod";\n`;
  assert.equal(
    withPackagedImports(before, "lib/x/z.d.ts"),
    `import { a } from "./a.js";\nexport * from "../b/c.js";\nimport("./d.js");\nconst text = "./e.ts";\n` +
      `type T = import("../../lib/x/y.js").Y;\nimport z from "zod";\n`,
  );
});
