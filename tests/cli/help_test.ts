import assert from "node:assert/strict";
import { type Command, runs } from "../../lib/cli/command.ts";
import { boolFlag, durationFlag, stringFlag, stringListFlag } from "../../lib/cli/flag.ts";
import { runProgram } from "../../lib/cli/run/run.ts";
import { readRegular } from "../../lib/kernel/files/regular.ts";

const flags = {
  name: stringFlag("me", "who", { short: "n" }),
  list: stringListFlag(["a", "b"], "which"),
  wait: durationFlag("1m0s", "how long", { env: ["WAIT"] }),
  secret: stringFlag("", "x", { hidden: true }),
};
const tree: Command = {
  name: "prog",
  summary: "A program",
  globals: { verbose: boolFlag("say more", { short: "v" }) },
  commands: [
    {
      name: "run",
      summary: "Run it",
      description: "Runs it.",
      aliases: ["start"],
      args: { usage: "<what>", min: 1, max: 1 },
      flags,
      run: runs(flags, ({ flags, args, output }) => {
        output.out(`${flags.name} ${args[0]}\n`);
        return 3;
      }),
    },
    { name: "boom", summary: "x", hidden: true, run: () => Promise.reject(new Error("inside")) },
  ],
};

async function call(...args: string[]) {
  const said = { out: "", err: "" };
  const output = { out: (t: string) => void (said.out += t), err: (t: string) => void (said.err += t) };
  const variables = (names: readonly string[]) => Promise.resolve(names.includes("WAIT") ? { WAIT: "2s" } : {});
  return { code: await runProgram(tree, args, { output, variables }), ...said };
}

const runHelp = `Runs it.

Usage:
  prog run <what> [flags]

Aliases:
  run, start

Flags:
  -h, --help            help for run
      --list strings    which (default [a,b])
  -n, --name string     who (default "me")
      --wait duration   how long [$WAIT] (default 1m)

Global Flags:
  -v, --verbose   say more
`;

Deno.test("help has the layout of Istio's programs: description, usage, aliases, flags, global flags", async () => {
  assert.deepEqual(await call("run", "--help"), { code: 0, out: runHelp, err: "" });
  assert.equal((await call("help", "run")).out, runHelp);
  assert.equal((await call("run", "x", "-h")).out, runHelp);
});

Deno.test("help is wrapped to the terminal's width, and below a narrow one descriptions stand on lines of their own", async () => {
  const wide: Command = {
    name: "install-cni",
    summary: "A program",
    flags: {
      "ztunnel-uds-address": boolFlag("a b c ".repeat(20).trim()),
      "a-flag-with-a-long-name": stringFlag("", "short"),
    },
    run: () => 0,
  };
  const help = async (width: number) => {
    let out = "";
    const terminal = { interactive: true, width, colour: false };
    const output = { out: (t: string) => void (out += t), err: () => {}, terminals: { out: terminal, err: terminal } };
    await runProgram(wide, ["--help"], { output });
    return out.trimEnd().split("\n");
  };
  for (const width of [40, 80, 120]) {
    const lines = await help(width);
    assert.deepEqual(lines.filter((line) => line.length > width), [], `${width}`);
    assert.ok(lines.length > 8);
    assert.equal(lines.some((line) => /--ztunnel-uds-address$/.test(line)), width < 80);
  }
  const [line] = (await help(Infinity)).filter((one) => one.includes("--ztunnel-uds-address"));
  assert.match(
    line ?? "",
    /--ztunnel-uds-address +a b c.*c$/,
  );
});

Deno.test("a program without a command shows its commands, without hidden commands", async () => {
  const { out, code } = await call();
  assert.equal(code, 0);
  assert.match(out, /^A program\n\nUsage:\n {2}prog \[command\]\n\nAvailable Commands:\n {2}run {2}Run it\n\nFlags:\n/);
  assert.match(out, /Use "prog \[command\] --help" for more information about a command\.\n$/);
  assert.equal((await call("--help")).out, out);
});

Deno.test("a command gets its values and its number is the exit code", async () => {
  assert.deepEqual(await call("run", "it", "-n", "you"), { code: 3, out: "you it\n", err: "" });
});

Deno.test("a mistake is one line on standard error, exit code 1", async () => {
  assert.deepEqual(await call("run"), {
    code: 1,
    out: "",
    err: 'Error: prog run: expected <what>, got no argument; see "prog run --help"\n',
  });
  assert.deepEqual(await call("help", "rnu"), {
    code: 1,
    out: "",
    err: 'Error: prog help: unknown command "prog rnu"; did you mean "prog run"?\n',
  });
});

Deno.test("an exception of a command is printed with its stack, exit code 1", async () => {
  const { code, err } = await call("boom");
  assert.equal(code, 1);
  assert.match(err, /^Error: inside\n {4}at /);
});

Deno.test("a file that cannot be read is one line on standard error, whatever stands in its place", async () => {
  const own = import.meta.dirname!;
  const rows = [
    [own, /^Error: .*: got a folder, expected a regular file\n$/],
    [`${own}/none.yaml`, /^Error: [^\n]*none\.yaml[^\n]*\n$/],
    [`${own}/help_test.ts/none.yaml`, /^Error: [^\n]*none\.yaml[^\n]*\n$/],
  ] as const;
  for (const [path, said] of rows) {
    let err = "";
    const output = { out: () => {}, err: (text: string) => void (err += text) };
    const read: Command = { name: "read", summary: "x", run: async () => (await readRegular(path)).length };
    assert.equal(await runProgram({ ...tree, commands: [read] }, ["read"], { output }), 1);
    assert.match(err, said);
  }
});
