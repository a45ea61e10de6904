import assert from "node:assert/strict";
import fc from "fast-check";
import { type Command, UsageError } from "../../lib/cli/command.ts";
import {
  boolFlag,
  durationFlag,
  floatFlag,
  intFlag,
  levelFlag,
  mapFlag,
  stringArrayFlag,
  stringFlag,
  stringListFlag,
} from "../../lib/cli/flag.ts";
import { parseLine, readLine } from "../../lib/cli/parse.ts";
import { pilotDiscovery } from "../../cmd/pilot-discovery/commands.ts";

const tree: Command = {
  name: "prog",
  summary: "x",
  globals: { verbose: boolFlag("x", { short: "v" }), vklog: levelFlag("x") },
  commands: [
    {
      name: "run",
      aliases: ["start"],
      summary: "x",
      args: { usage: "<a> [<b>]", min: 0, max: 2 },
      exclusive: [["all", "only"]],
      flags: {
        name: stringFlag("me", "x", { short: "n", env: ["NAME", "NAME2"], also: ["title"] }),
        mode: stringFlag("", "x", { allowed: ["REDIRECT", "TPROXY"] }),
        all: boolFlag("x", { short: "a" }),
        only: stringFlag("", "x"),
        port: intFlag("uint16", 80, "x", { short: "p" }),
        count: intFlag("int", 1, "x"),
        small: intFlag("int32", 1, "x"),
        rate: floatFlag(1, "x"),
        wait: durationFlag("5s", "x"),
        list: stringListFlag(["d"], "x", { short: "l" }),
        target: stringArrayFlag(["stdout"], "x"),
        map: mapFlag("x"),
        registries: stringListFlag(["Orch"], "x", { allowed: ["Orch", "Mock"], spelledAlso: { Kubernetes: "Orch" } }),
        quick: boolFlag("x", { value: true }),
      },
      run: () => 0,
    },
    { name: "sub", summary: "x", commands: [{ name: "leaf", summary: "x", run: () => 0 }] },
  ],
};

function run(line: string, env: Record<string, string> = {}) {
  return parseLine(tree, ["run", ...line.split(" ").filter((w) => w !== "")], env);
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return assert.fail("nothing was refused");
}

const accepted: [string, string, unknown][] = [
  ["--name v", "name", "v"],
  ["--name=v", "name", "v"],
  ["--name=", "name", ""],
  ["--name=a=b", "name", "a=b"],
  ["--name --all", "name", "--all"],
  ["--title v", "name", "v"],
  ["-n v", "name", "v"],
  ["-nv", "name", "v"],
  ["-n=v", "name", "v"],
  ["-an v", "name", "v"],
  ["-avnx", "name", "x"],
  ["-a=false", "all", false],
  ["--all", "all", true],
  ["--all=false", "all", false],
  ["--all=F", "all", false],
  ["--quick=0", "quick", false],
  ["--port 0x10", "port", 16],
  ["--port 65535", "port", 65535],
  ["-p8080", "port", 8080],
  ["--count -5", "count", -5],
  ["--count 0600", "count", 384],
  ["--count=0o17", "count", 15],
  ["--rate 2.5", "rate", 2.5],
  ["--rate 1e3", "rate", 1000],
  ["--wait 1h0m0s", "wait", 3_600_000],
  ["", "wait", 5000],
  ["", "list", ["d"]],
  ["--list a,b --list c", "list", ["a", "b", "c"]],
  ['--list "a,b",c', "list", ["a,b", "c"]],
  ["--list=", "list", []],
  ["--target a,b --target stderr", "target", ["a,b", "stderr"]],
  ["--map a=b,c=d --map e=f=g", "map", { a: "b", c: "d", e: "f=g" }],
  ["--registries Kubernetes,Mock", "registries", ["Orch", "Mock"]],
  ["--name a --name b", "name", "b"],
  ["-v --vklog 4", "vklog", 4],
];
for (const [line, name, value] of accepted) {
  Deno.test(`${JSON.stringify(line)} gives ${name}=${JSON.stringify(value)}`, () => {
    assert.deepEqual(run(line).values[name], value);
  });
}

const refused: [string, RegExp][] = [
  ["--nmae v", /^prog run: unknown flag --nmae; did you mean "--name"\?$/],
  ["--zzzzzz", /^prog run: unknown flag --zzzzzz; see "prog run --help"$/],
  ["-z", /unknown flag -z/],
  ["-az", /unknown flag -z/],
  ["--constructor x", /unknown flag --constructor/],
  ["--__proto__ x", /unknown flag --__proto__/],
  ["--name", /^prog run: flag --name needs a value \(string\); see "prog run --help"$/],
  ["-an", /flag -n, --name needs a value/],
  ["--all=maybe", /flag --all: got "maybe", expected true or false/],
  ["--port 65536", /flag --port: got "65536", expected a whole number from 0 to 65535/],
  ["--port -1", /from 0 to 65535/],
  ["--port 1.5", /got "1.5"/],
  ["--port 08", /got "08"/],
  ["--small 2147483648", /from -2147483648 to 2147483647/],
  ["--count 99999999999999999999", /expected a whole number/],
  ["--rate 1e39", /expected a number/],
  ["--rate NaN", /expected a number/],
  ["--wait 5", /expected a duration such as 300ms/],
  ['--list "a', /balanced double quotes/],
  ["--map a", /pairs in the form key1=value1,key2=value2/],
  ["--map =b", /pairs in the form/],
  ["--mode REDIRET", /got "REDIRET", expected one of REDIRECT, TPROXY; did you mean "REDIRECT"\?/],
  ["--registries Orch,Consul", /got "Orch,Consul", expected one of Orch, Mock/],
  ["--all --only x", /--all and --only exclude each other/],
  ["a b c d", /unexpected argument "c" "d"/],
  ["--all false x y", /unexpected argument "y"/],
];
for (const [line, message] of refused) {
  Deno.test(`${JSON.stringify(line)} is refused in one line`, () => {
    const text = refusal(() => run(line));
    assert.match(text, message);
    assert.equal(text.includes("\n"), false);
  });
}

Deno.test("all mistakes in a line are reported at once, in order, and no mistake follows from another", () => {
  assert.deepEqual(refusal(() => run("--port x --nmae v --wait 5 a b c --mode REDIRET --list")).split("\n"), [
    'prog run: flag --port: got "x", expected a whole number from 0 to 65535',
    'prog run: unknown flag --nmae; did you mean "--name"?',
    'prog run: flag --wait: got "5", expected a duration such as 300ms, 10s or 1h30m',
    'prog run: flag --mode: got "REDIRET", expected one of REDIRECT, TPROXY; did you mean "REDIRECT"?',
    'prog run: flag --list needs a value (stringSlice); see "prog run --help"',
  ]);
  assert.deepEqual(refusal(() => run("a b c --port x", { NAME: "x" })).split("\n").map((line) => line.slice(10, 24)), [
    "flag --port: g",
    "unexpected arg",
  ]);
  const { values, given } = readLine(tree, ["run", "--port", "x", "--name", "v"]);
  assert.deepEqual([values["port"], values["name"], given.has("port")], [80, "v", false]);
});

Deno.test("a switch does not take the next word", () => assert.deepEqual(run("--all false").args, ["false"]));

Deno.test("behind -- everything is an argument", () => {
  assert.deepEqual(run("-a -- --name -x").args, ["--name", "-x"]);
  assert.deepEqual(run("- --all").args, ["-"]);
});

Deno.test("global flags hold before and behind the command, and the command's alias leads to it", () => {
  for (
    const line of [["-v", "run"], ["run", "-v"], ["--vklog", "3", "start", "--verbose"], ["--vklog=3", "run", "-v"]]
  ) {
    const parsed = parseLine(tree, line);
    assert.equal(parsed.command.name, "run");
    assert.equal(parsed.values["verbose"], true);
  }
});

Deno.test("a command's own flag does not hold for another", () => {
  assert.match(refusal(() => parseLine(tree, ["sub", "leaf", "--name", "x"])), /^prog sub leaf: unknown flag --name/);
});

Deno.test("an unknown command is refused with a guess, also below a command", () => {
  assert.match(refusal(() => parseLine(tree, ["rnu"])), /^prog: unknown command "rnu"; did you mean "run"\?$/);
  assert.match(
    refusal(() => parseLine(tree, ["sub", "laef"])),
    /^prog sub: unknown command "laef"; did you mean "leaf"\?$/,
  );
  assert.match(refusal(() => parseLine(tree, ["completely-else"])), /see "prog --help"$/);
});

Deno.test("a request for help wins over mistakes behind it", () => {
  assert.equal(run("--help").help, true);
  assert.equal(run("-h a b c d").help, true);
  assert.equal(parseLine(tree, ["--help"]).command.name, "prog");
});

Deno.test("a variable sets what the line does not; the later of two wins; the line wins over both", () => {
  assert.equal(run("", { NAME: "a" }).values["name"], "a");
  assert.equal(run("", { NAME: "a", NAME2: "b" }).values["name"], "b");
  assert.equal(run("-n c", { NAME: "a", NAME2: "b" }).values["name"], "c");
  assert.equal(run("", { NAME: "a" }).given.has("name"), true);
  assert.equal(run("").given.has("name"), false);
});

Deno.test("any line is parsed or refused with a UsageError", () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom("run", "--name", "-n", "--", "-", "--list", "=", "--map=a", "--help", "-p"),
  );
  fc.assert(fc.property(fc.array(word), (words) => {
    try {
      parseLine(tree, words);
    } catch (error) {
      assert(error instanceof UsageError, String(error));
      // A line for each problem, for any typed text.
      assert.equal(error.message.split("\n").length, readLine(tree, words).problems.length);
      assert.equal(/\r/.test(error.message), false);
    }
  }));
});

Deno.test("verbs of istioctl that have another name here are answered with that name", () => {
  const mistake = (...args: string[]) => readLine(pilotDiscovery, args).problems.join("\n");
  assert.match(mistake("analyze"), /unknown command "analyze"; here it is "pilot-discovery check"$/);
  assert.match(mistake("install", "--set", "x=y"), /here it is "pilot-discovery manifests", for kubectl apply/);
  assert.match(mistake("constructor"), /unknown command "constructor"; see/);
});
