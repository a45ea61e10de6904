import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";
import { PACKAGES } from "../../scripts/setup/packages.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Programs by their packages, from dpkg's lists of installed files. */
function installedPrograms(): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { name } of Deno.readDirSync("/var/lib/dpkg/info")) {
    if (!name.endsWith(".list")) continue;
    const owner = name.slice(0, -".list".length).split(":")[0]!;
    for (const path of Deno.readTextFileSync(`/var/lib/dpkg/info/${name}`).split("\n")) {
      const program = /^(?:\/usr)?\/s?bin\/([^/]+)$/.exec(path)?.[1];
      if (program !== undefined) owners.set(program, owner);
    }
  }
  return owners;
}

/** Packages of every Debian. */
function requiredPackages(): Set<string> {
  const required = new Set<string>();
  for (const entry of Deno.readTextFileSync("/var/lib/dpkg/status").split("\n\n")) {
    if (/^(Essential: yes|Priority: required)$/m.test(entry)) required.add(/^Package: (.*)$/m.exec(entry)![1]!);
  }
  return required;
}

/** Debian packages of the README's requirements: Node with npm, Python 3 with pip. */
const PREREQUISITES = new Set(["nodejs", "npm", "python3", "python3-minimal", "python3-pip"]);

/** Words of the tests with the name of a program, and their meaning here. */
const WORDS: Readonly<Record<string, string>> = {
  file: "a kind of credential",
  host: "a field",
  init: "a kind of container",
  kubectl: "asked for what the API tells, where it is there; elsewhere the test asks the API",
  patch: "a verb of the orchestrator's API",
  reboot: "an order of a cluster of tests",
  route: "a field",
  size: "a command of pilot-discovery",
  w: "a name",
  watch: "a verb of the orchestrator's API, a mode of a client",
  write: "a step",
};

/** Texts of the sources that may name a program: whole string literals. */
function literals(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of sourceFiles(root, ["tests", "scripts"])) {
    const text = Deno.readTextFileSync(`${root}/${file}`);
    for (const [, literal = ""] of text.matchAll(/"(?:\/usr)?(?:\/s?bin\/)?([a-z][\w.+-]*)"/g)) {
      found.set(literal, file);
    }
  }
  return found;
}

/** First words of the commands in the README. */
function readmeCommands(): Map<string, string> {
  const blocks = Deno.readTextFileSync(`${root}/README.md`).matchAll(/^```sh\n([\s\S]*?)^```/gm);
  const lines = [...blocks].flatMap(([, block = ""]) => block.trim().split("\n"));
  return new Map(lines.map((line) => [line.split(" ")[0]!, "README.md"]));
}

const noDpkg = (() => {
  try {
    Deno.statSync("/var/lib/dpkg/info");
    return undefined;
  } catch {
    return "this is not Debian";
  }
})();

Deno.test({
  name: "every program that tests, scripts and the README start comes with Debian, the README's needs or the set-up" +
    (noDpkg === undefined ? "" : ` (ignored: ${noDpkg})`),
  ignore: noDpkg !== undefined,
  fn() {
    const owners = installedPrograms();
    const there = new Set([...requiredPackages(), ...PREREQUISITES, ...PACKAGES.map(({ name }) => name)]);
    const missing: string[] = [];
    for (const [word, where] of [...literals(), ...readmeCommands()]) {
      const owner = owners.get(word);
      if (owner === undefined || there.has(owner) || Object.hasOwn(WORDS, word)) continue;
      missing.push(`${where}: ${word} is of the package ${owner}: add that to scripts/setup/packages.ts`);
    }
    assert.deepEqual(missing, []);
  },
});

Deno.test("packages are sorted, named once and have reasons", () => {
  const names = PACKAGES.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)].sort());
  for (const { name, why } of PACKAGES) assert.ok(why.length > 5, name);
});

Deno.test("no task but setup and the tests installs system packages: the others change nothing outside this folder", () => {
  const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)));
  const all = Object.entries(tasks as Record<string, string | { command?: string; dependencies?: string[] }>);
  const commandOf = (task: typeof all[0][1]) => (typeof task === "string" ? task : task.command ?? "");
  const installs = new Set(all.filter(([, task]) => commandOf(task).includes("apt-get")).map(([name]) => name));
  assert.deepEqual([...installs], ["setup"]);
  for (let before = 0; before !== installs.size;) {
    before = installs.size;
    for (const [name, task] of all) {
      if (typeof task !== "string" && task.dependencies?.some((one) => installs.has(one))) installs.add(name);
    }
  }
  assert.deepEqual([...installs].sort(), ["setup", "test"]);
});
