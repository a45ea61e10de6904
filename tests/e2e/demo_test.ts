/** The demo, run with the command of its task. */
import assert from "node:assert/strict";
import { envoyPath } from "../envoy/path.ts";

const root = new URL("../..", import.meta.url).pathname;

/** The demo's command without the preceding set-up, on the runtime of this test. */
function demoArguments(): string[] {
  const { command } = JSON.parse(Deno.readTextFileSync(`${root}deno.json`)).tasks.demo as { command: string };
  const [program, ...args] = command.split(" ");
  assert.equal(program, "deno");
  return args;
}

/** Counts after a label: `v1 908, v2 92`. */
function counts(output: string, after: RegExp): Record<string, number> {
  const text = output.slice(output.search(after));
  const line = text.split("\n").find((l) => /\b(v\d|failed) \d+/.test(l)) ?? "";
  return Object.fromEntries([...line.matchAll(/\b(v\d|failed) (\d+)/g)].map(([, name, n]) => [name, Number(n)]));
}

/** Runs the demo to its end, with variables and arguments. Returns the printed text. */
async function play(env: Record<string, string> = {}, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...demoArguments(), ...args],
    cwd: root,
    env: { NO_COLOR: "1", ...env },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const output = new TextDecoder().decode(stdout);
  assert.equal(code, 0, output + new TextDecoder().decode(stderr));
  return output;
}

Deno.test({
  name:
    "the demo splits 90/10, follows an edit, refuses a bad one, loses no request, measures on demand, and ends with 0",
  ignore: envoyPath() === undefined,
  fn: async () => {
    const output = await play();
    const split = counts(output, /of 1,000 requests/);
    assert.equal(split["v1"]! + split["v2"]!, 1000);
    // The expectation is 100 of 1,000, with a standard deviation of 9.5. A deviation of seven times as much happens in
    // one run of 10^11.
    assert(split["v2"]! > 33 && split["v2"]! < 167, `v2 got ${split["v2"]}`);
    assert.deepEqual(counts(output, /100 and 0 now/), { v1: 300 });
    assert.deepEqual(counts(output, /0 and 100 now/), { v2: 300 });
    assert.match(output, /came \d+ ms after the edit/);
    assert.match(output, /refused: spec\.http\[0\]\.route\[1\]\.weight: "plenty"/);
    assert.deepEqual(counts(output, /traffic goes on as before/), { v2: 300 });
    const [, all = "", some = ""] = /with all of them ([\d.]+) MB, on demand .* one ([\d.]+) MB/.exec(output) ?? [];
    assert.ok(Number(some) > 0 && Number(some) < Number(all), output);
    assert.doesNotMatch(output, /failed/);
  },
});

Deno.test({
  name: "the demo loses no request when one sidecar starts long after the other",
  ignore: envoyPath() === undefined,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      const late = `${folder}/envoy`;
      const script = `#!/bin/sh\ncase "$*" in *hello-v2*) sleep 3 ;; esac\nexec '${envoyPath()}' "$@"\n`;
      await Deno.writeTextFile(late, script, { mode: 0o755 });
      const output = await play({ ENVOY: late });
      const { v1, v2, failed } = counts(output, /of 1,000 requests/);
      assert.deepEqual([v1! + v2!, failed], [1000, undefined], output);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "a demo that is ended in the middle takes everything with it",
  ignore: envoyPath() === undefined,
  fn: async () => {
    const demo = new Deno.Command(Deno.execPath(), {
      args: demoArguments(),
      cwd: root,
      env: { NO_COLOR: "1" },
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    let output = "";
    for await (const text of demo.stdout.pipeThrough(new TextDecoderStream())) {
      if (!output.includes("three Envoys run") && (output + text).includes("three Envoys run")) demo.kill("SIGTERM");
      output += text;
    }
    assert.equal((await demo.status).code, 130, output);
    assert.match(output, /done: everything has been stopped\n$/);
    const folder = /in (\/\S+)\/config\b/.exec(output)?.[1] ?? "";
    await assert.rejects(Deno.stat(folder), Deno.errors.NotFound);
  },
});

Deno.test({
  name:
    "the secure demo: identities by mutual TLS, a caller without one and an identity that is not let in are refused, certificates are replaced, and no other request fails",
  ignore: envoyPath() === undefined,
  fn: async () => {
    const output = await play({}, "--secure");
    const lines = [...output.matchAll(/^ +(through the client's|without a) sidecar: (.*) \d+$/gm)];
    const client = "spiffe://cluster.local/ns/demo/sa/client";
    const seen = lines.map(([, caller, answer]) => caller === "without a" ? `- ${answer}` : answer);
    const denied = "403 RBAC: access denied";
    const expected = [client, "- nobody", client, "- refused", denied, "- refused", client, "- refused"];
    assert.deepEqual(seen, expected, output);
    assert.match(output, /done: everything has been stopped\n$/);
    await assert.rejects(Deno.stat(/in (\/\S+)\/config\b/.exec(output)![1]!), Deno.errors.NotFound);
  },
});

Deno.test("an argument that the demo does not know is refused before anything starts", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...demoArguments(), "--stay"],
    cwd: root,
    stdout: "piped",
    stderr: "piped",
  }).output();
  assert.deepEqual([code, stdout.length], [1, 0]);
  assert.match(
    new TextDecoder().decode(stderr),
    /^Error: unknown argument --stay, expected none, --keep to stay and play, --secure/,
  );
});
