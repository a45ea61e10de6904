/** The README is true: commands run, links lead somewhere, and the table of pages equals the server's. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { PAGES } from "../../lib/debug/pages.ts";
import { PortTaken, saysTaken, withPorts } from "../../scripts/ports.ts";
import { DOC_TABLES, withDocTable } from "../../scripts/doc_tables.ts";
import { envoyPath } from "../envoy/path.ts";
import { until } from "../patience.ts";

const root = new URL("../..", import.meta.url).pathname;
const readme = Deno.readTextFileSync(`${root}README.md`);

/** Commands of the shell blocks, in order. */
const commands = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.trim().split("\n"));

/** Runs a command of the README; `npx -y deno@2.8.3` and `deno` stand for the runtime of this test. */
async function run(command: string, ...more: string[]): Promise<{ code: number; text: string; trouble: string }> {
  const { code, stdout, stderr } = await spawn(command, ...more).output();
  return { code, text: new TextDecoder().decode(stdout), trouble: new TextDecoder().decode(stderr) };
}

function spawn(command: string, ...more: string[]): Deno.Command {
  const [program = "", ...args] = command.replace("npx -y deno@2.8.3", "deno").split(" ");
  const path = program === "deno" ? Deno.execPath() : program.startsWith(".") ? envoyPath()! : program;
  const env = { NO_COLOR: "1" };
  return new Deno.Command(path, { args: [...args, ...more], cwd: root, env, stdout: "piped", stderr: "piped" });
}

/** A running command; `text` is the output so far. */
class Going {
  text = "";
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<unknown>;

  constructor(command: string, ...more: string[]) {
    this.#child = spawn(command, ...more).spawn();
    this.#reading = Promise.all([this.#read(this.#child.stdout), this.#read(this.#child.stderr)]);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) this.text += text;
  }

  async stop(signal: Deno.Signal): Promise<void> {
    try {
      this.#child.kill(signal);
    } catch { /* the command has ended already */ }
    await Promise.all([this.#child.status, this.#reading]);
  }
}

function command(pattern: RegExp): string {
  const found = commands.filter((line) => pattern.test(line));
  assert.equal(found.length, 1, `the README has ${found.length} commands like ${pattern}`);
  return found[0]!;
}

Deno.test("the two commands are for the runtime that is pinned", () => {
  const pinned = commands.filter((line) => line.startsWith("npx "));
  assert.deepEqual(pinned, ["npx -y deno@2.8.3 task demo", "npx -y deno@2.8.3 task test"]);
  assert.equal(Deno.version.deno, "2.8.3");
  assert.match(Deno.readTextFileSync(`${root}.ci/run`), /^exec npx -y deno@2\.8\.3 task test$/m);
});

Deno.test({
  name: "the demo's command ends by itself, with 0",
  ignore: envoyPath() === undefined,
  fn: async () => {
    const { code, text, trouble } = await run(command(/task demo$/));
    assert.equal(code, 0, text + trouble);
    assert.match(text, /done: everything has been stopped\s*$/);
  },
});

Deno.test("the test command runs a part, and its last line is the result", async () => {
  const { code, text, trouble } = await run(command(/task test$/), "tests/pb");
  assert.equal(code, 0, text + trouble);
  assert.match(text.trimEnd().split("\n").at(-1)!, /^\d+ passed, 0 failed, 0 skipped$/);
});

/** Ports of the first steps. */
const FIXED = ["15010", "8080", "15014", "8088", "15000"];

/** What a test does while the server and the Envoy of the README run at other ports. */
interface Attached {
  /** The served copy of the example. */
  readonly folder: string;
  /** Text of the README with the other ports. */
  readonly moved: (text: string) => string;
  /** The output of a command of the README. */
  readonly ask: (line: string) => Promise<string>;
}

/** Serves an example by the README's command, and attaches the Envoy of the first steps. */
async function attached(
  example: string,
  ports: readonly number[],
  use: (given: Attached) => Promise<void>,
): Promise<void> {
  const moved = (text: string) =>
    FIXED.reduce((rest, port, i) => rest.replaceAll(new RegExp(`\\b${port}\\b`, "g"), `${ports[i]}`), text);
  const folder = await Deno.makeTempDir({ prefix: "mesh-readme-" });
  await Deno.mkdir(`${folder}/mesh`);
  for (const { name } of Deno.readDirSync(`${root}${example}`)) {
    const text = await Deno.readTextFile(`${root}${example}/${name}`);
    await Deno.writeTextFile(`${folder}/mesh/${name}`, moved(text));
  }
  const bootstrap = moved(Deno.readTextFileSync(`${root}examples/first-steps/envoy.yaml`));
  await Deno.writeTextFile(`${folder}/envoy.yaml`, bootstrap);
  const addresses = ["--grpcAddr=127.0.0.1:15010", "--httpAddr=127.0.0.1:8080", "--monitoringAddr=127.0.0.1:15014"];
  const serve = command(new RegExp(`configDir=${example}$`)).replace(example, `${folder}/mesh`);
  const attach = command(/_bin\/envoy -c/).replace("examples/first-steps/envoy.yaml", `${folder}/envoy.yaml`);
  const server = new Going(serve, ...addresses.map(moved), "--secureGRPCAddr=", "--ctrlz_port=0");
  const envoy = new Going(attach, "--use-dynamic-base-id", "-l", "warning");
  const ask = async (line: string) => {
    if (saysTaken(server.text + envoy.text)) throw new PortTaken(server.text + envoy.text);
    return (await run(moved(line.replaceAll("'", "")), "-sS")).text;
  };
  try {
    await use({ folder: `${folder}/mesh`, moved, ask });
  } finally {
    await Promise.all([envoy.stop("SIGKILL"), server.stop("SIGTERM")]);
    await Deno.remove(folder, { recursive: true });
  }
}

/** Edits the first steps' folder, and sends the README's requests. */
function firstSteps(ports: readonly number[]): Promise<void> {
  return attached("examples/first-steps/mesh", ports, async ({ folder, moved, ask }) => {
    const hello = command(/^curl .*\/hello$/);
    await until("the answer", async () => await ask(hello) === "hello from the gateway\n");
    const routes = `${folder}/routes.yaml`;
    const edited = (await Deno.readTextFile(routes)).replace("hello from the", "good morning from the");
    await Deno.writeTextFile(routes, edited);
    await until("the edit", async () => await ask(hello) === "good morning from the gateway\n");
    const live = JSON.parse(await ask(command(/debug\/live/)));
    assert.deepEqual([live.live, live.total, live.everywhere], [1, 1, true]);
    const table = [...readme.matchAll(/^\| `(127\.0\.0\.1:\d+)(\/\w+)?` /gm)];
    assert.equal(table.length, 4);
    for (const [, address, path = "/metrics"] of table) {
      if (address === "127.0.0.1:15000") continue;
      const { text } = await run(moved(`curl -sS -o /dev/null -w %{http_code} http://${address}${path}`));
      assert.equal(text, "200", `${address}${path}`);
    }
  });
}

/** Edits the folder of the Gateway API, and sends the README's request. */
function gatewayApi(ports: readonly number[]): Promise<void> {
  return attached("examples/gateway-api", ports, async ({ folder, moved, ask }) => {
    const old = command(/^curl .*\/old\/page$/);
    const leadsTo = async (path: string) =>
      (await ask(old)).includes(`location: ${moved("http://127.0.0.1:8088")}${path}`);
    await until("the answer", () => leadsTo("/new/page"));
    const routes = `${folder}/routes.yaml`;
    const edited = (await Deno.readTextFile(routes)).replace("replacePrefixMatch: /new", "replacePrefixMatch: /newer");
    await Deno.writeTextFile(routes, edited);
    await until("the edit", () => leadsTo("/newer/page"));
  });
}

Deno.test({
  name: "the first steps: the server serves the folder, the Envoy attaches, curl is answered, an edit is live",
  ignore: envoyPath() === undefined,
  fn: () => withPorts(FIXED.length, firstSteps),
});

Deno.test({
  name:
    "the Gateway API's folder: the server serves the folder, the same Envoy attaches, curl is answered, an edit is live",
  ignore: envoyPath() === undefined,
  fn: () => withPorts(FIXED.length, gatewayApi),
});

Deno.test("the Istio folder's command serves it, and nothing is wrong with it", async () => {
  const free = ["grpc", "http", "monitoring"].map((name) => `--${name}Addr=127.0.0.1:0`);
  const server = new Going(command(/configDir=examples\/istio-spelling$/), ...free, "--ctrlz_port=0");
  const port = () => /\thttp=(\d+)/.exec(server.text)?.[1];
  const get = (path: string) => fetch(`http://127.0.0.1:${port()}${path}`);
  const page = async (path: string) => await (await get(path)).text();
  try {
    await until("readiness", () => port() !== undefined);
    assert.equal(await page("/debug/problemz"), "[]\n");
    const kinds = JSON.parse(await page("/debug/configz")).map((o: { kind: string }) => o.kind);
    assert.deepEqual(kinds.toSorted(), ["DestinationRule", "Gateway", "ServiceEntry", "VirtualService"]);
    for (const { path, methods = ["GET"] } of PAGES) {
      if (!methods.includes("GET")) continue;
      const { status, body } = await get(`/debug/${path}`);
      await body?.cancel();
      assert(status === 200 || status === 400, `/debug/${path}: ${status}`);
    }
  } finally {
    await server.stop("SIGTERM");
  }
});

Deno.test("generated tables of docs are up to date (else: deno task doc-tables)", () => {
  for (const table of DOC_TABLES) {
    const page = Deno.readTextFileSync(`${root}${table.page}`);
    assert.equal(page, withDocTable(page, table), table.page);
  }
});

/** Whether all of a part is in a whole. */
function within(part: unknown, whole: unknown, at: string): void {
  if (Array.isArray(part)) return part.forEach((one, i) => within(one, (whole as unknown[])[i], `${at}[${i}]`));
  if (typeof part !== "object" || part === null) return assert.deepEqual(part, whole, at);
  for (const [key, value] of Object.entries(part)) {
    within(value, (whole as Record<string, unknown>)?.[key], `${at}.${key}`);
  }
}

Deno.test("the figures beside Istio's are rows of the page of benchmarks", async () => {
  const rows = (text: string) =>
    text.split("\n").filter((line) => / CPU s |\d ms |MiB /.test(line)).map((line) =>
      line.split("|").map((cell) => cell.trim()).slice(1, 4).join(" | ")
    );
  const shown = rows(readme.split("## ")[0]!);
  assert.ok(shown.length > 3, "the README shows figures");
  const measured = new Set(rows(await Deno.readTextFile(`${root}docs/benchmarks.md`)));
  assert.deepEqual(shown.filter((row) => !measured.has(row)), []);
});

Deno.test("the bootstrap in the README equals the example's bootstrap", () => {
  const [, shown] = /```yaml\n([\s\S]*?)```/.exec(readme)!;
  within(parse(shown!), parse(Deno.readTextFileSync(`${root}examples/first-steps/envoy.yaml`)), "");
});

/** Pages of the project. */
function pages(folder: string): string[] {
  return [...Deno.readDirSync(`${root}${folder}`)].flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isFile) return entry.name.endsWith(".md") ? [path] : [];
    return ["docs", "examples", "changes"].includes(path.split("/")[0]!) ? pages(path) : [];
  });
}

function anchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!.toLowerCase().replace(/[^\w\s-]/g, "").replaceAll(" ", "-")
  );
}

Deno.test("every relative link and every file that a page names exists", () => {
  const missing: string[] = [];
  for (const page of pages("")) {
    const text = Deno.readTextFileSync(`${root}${page}`).replace(/```[\s\S]*?```/g, "");
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const { pathname, hash } = new URL(target, `file://${root}${page}`);
      const found = stat(pathname);
      if (!found) missing.push(`${page}: ${target}`);
      else if (hash !== "" && !anchors(Deno.readTextFileSync(pathname)).includes(hash.slice(1))) {
        missing.push(`${page}: ${target} has no such heading`);
      }
    }
    if (page === "CHANGELOG.md" || page.startsWith("docs/reference/")) continue;
    for (const [, name = ""] of text.matchAll(/`((?:lib|tests|scripts|docs|examples|proto|cmd)\/[\w./*-]+)`/g)) {
      if (!name.includes("*") && !/\bgen\b/.test(name) && !stat(`${root}${name}`)) missing.push(`${page}: ${name}`);
    }
  }
  assert.deepEqual(missing, []);
});

function stat(path: string): boolean {
  try {
    return Deno.statSync(path) !== undefined;
  } catch {
    return false;
  }
}
