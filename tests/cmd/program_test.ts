/** The programs as processes: exit codes, streams, and quick commands without heavy modules. */
import assert from "node:assert/strict";
import { setUpError } from "../../cmd/pilot-discovery/set_up.ts";
import { programs } from "../../lib/kernel/program/program.ts";

const repository = new URL("../../", import.meta.url).pathname;

async function run(program: string, args: string[], env: Record<string, string> = {}) {
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", `-P=${program}`, `cmd/${program}/main.ts`, ...args],
    cwd: repository,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: output.code, out: text(output.stdout), err: text(output.stderr) };
}

for (const program of programs) {
  Deno.test(`${program} version prints one line and exits 0`, async () => {
    const { code, out, err } = await run(program, ["version"]);
    assert.deepEqual({ code, err }, { code: 0, err: "" });
    assert.match(out, /^client version: \d+\.\d+\.\d+\n$/);
  });

  Deno.test(`${program} refuses an unknown flag with one line on standard error and exit code 1`, async () => {
    const { code, out, err } = await run(program, ["version", "--shrot"]);
    assert.deepEqual({ code, out }, { code: 1, out: "" });
    assert.equal(err, `Error: ${program} version: unknown flag --shrot; did you mean "--short"?\n`);
  });

  Deno.test(`${program} loads no package and no catalogue before it knows its command`, async () => {
    const { out } = await info(program);
    const graph = JSON.parse(out) as Graph;
    const loaded = staticModules(graph);
    assert(loaded.size > 5);
    const heavy = [...loaded].filter((m) =>
      packageOf(m) !== undefined || /lib\/(?!cli\/|kernel\/)|settings\/catalogue|node:/.test(m)
    );
    assert.deepEqual(heavy, []);
  });
}

interface Graph {
  roots: string[];
  modules: { specifier: string; dependencies?: { code?: { specifier?: string }; isDynamic?: boolean }[] }[];
}

/** Name of a module's package. */
function packageOf(module: string): string | undefined {
  return /^npm:(@?[^@]+)|.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module)?.slice(1).find((name) => name);
}

Deno.test("the node's plugin loads one small package: others would cost each pod more than reading its configuration", async () => {
  const graph = JSON.parse((await info("install-cni", "plugin_entry.ts")).out) as Graph;
  const packages = [...staticModules(graph)].map(packageOf).filter((name) => name !== undefined);
  assert.deepEqual([...new Set(packages)], ["ipaddr.js"]);
});

function info(program: string, entry = "main.ts") {
  return new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `cmd/${program}/${entry}`],
    cwd: repository,
    stdout: "piped",
    stderr: "null",
  }).output().then((o) => ({ out: new TextDecoder().decode(o.stdout) }));
}

Deno.test("Deno does not even read the server before it knows the command", async () => {
  const graph = JSON.parse((await info("pilot-discovery")).out) as Graph;
  const read = [...staticModules(graph, true)];
  assert.deepEqual(
    read.filter((m) => /\/start\.ts|_command\.ts|lib\/offline/.test(m) || packageOf(m) !== undefined),
    [],
  );
  assert(read.some((m) => m.endsWith("/lib/cli/request.ts")), "other imports are seen");
});

/** Modules loaded with the roots; with `later`, also later imports by a plain name. */
function staticModules(graph: Graph, later = false): Set<string> {
  const found = new Set<string>(graph.roots);
  for (const specifier of found) {
    const module = graph.modules.find((m) => m.specifier === specifier);
    for (const dependency of module?.dependencies ?? []) {
      const next = dependency.code?.specifier;
      if (next !== undefined && (later || dependency.isDynamic !== true)) found.add(next);
    }
  }
  return found;
}

Deno.test("install-cni outside of a cluster, or as the agent of no node, reports in one line what is missing, and exits with 1", async () => {
  const outside = await run("install-cni", []);
  assert.deepEqual([outside.code, outside.out], [1, ""]);
  assert.match(
    outside.err,
    /^Error: variable ORCH_SERVICE_HOST \(or KUBERNETES_SERVICE_HOST\): got none, expected .*\n$/,
  );
  const tunnel = await run("install-cni", ["--ambient-enabled"], { KUBERNETES_SERVICE_HOST: "10.0.0.1" });
  assert.equal(tunnel.code, 1);
  assert.match(tunnel.err, /^Error: variable NODE_NAME: got "", expected the node's name: .*\n$/);
});

Deno.test("bad variables end a start with one line each, in the spelling they were given in", async () => {
  const env = { ISTIO_DUAL_STACK: "maybe", PILOT_DEBOUNCE_AFTER: "5" };
  const { code, err } = await run("pilot-discovery", ["discovery", "--configDir=."], env);
  assert.equal(code, 1);
  assert.match(err, /ISTIO_DUAL_STACK: got "maybe", expected true or false\n/);
  assert.match(err, /PILOT_DEBOUNCE_AFTER: got "5", expected a duration/);
  assert.equal(err.trimEnd().split("\n").length, 2);
});

const manyMistakes: [string, string[], Record<string, string>, RegExp[]][] = [
  [
    "pilot-discovery",
    ["discovery", "--ctrlz_port=x", "--configDri=.", "--httpAddr=nonsense", "--log_caller=a,b"],
    { PILOT_PUSH_THROTTLE: "many" },
    [
      /--ctrlz_port: got "x"/,
      /unknown flag --configDri; did you mean "--configDir"\?/,
      /PILOT_PUSH_THROTTLE/,
      /--httpAddr/,
    ]
      .concat([/scope "a"/, /scope "b"/]),
  ],
  [
    "pilot-agent",
    ["proxy", "side", "--concurrency=x", "--stsPort=-1", "--log_output_level=a:b"],
    { SECRET_TTL: "soon" },
    [/--concurrency: got "x"/, /role "side"/, /SECRET_TTL/, /--stsPort/, /scope "a"/, /level "b"/],
  ],
  [
    "pilot-agent",
    ["mesh-iptables", "--iptables-probe-port=x", "--proxy-port=0", "--log_caller=a"],
    {},
    [/--iptables-probe-port: got "x"/, /scope "a"/, /--proxy-port/],
  ],
  ["pilot-agent", ["wait", "--periodMillis=x", "--url=here"], {}, [/--periodMillis: got "x"/, /--url: got "here"/]],
  [
    "install-cni",
    ["--ctrlz_port=x", "--monitoring-port=70000", "--ambient-enabled", "--log_caller=a"],
    { REPAIR_ENABLED: "perhaps" },
    [/--ctrlz_port: got "x"/, /REPAIR_ENABLED/, /--monitoring-port/, /scope "a"/],
  ],
];
for (const [program, args, env, lines] of manyMistakes) {
  Deno.test(`${program} ${args.join(" ")} names everything that is wrong at once, one line each`, async () => {
    const { code, out, err } = await run(program, args, env);
    assert.deepEqual([code, out], [1, ""]);
    const said = err.trimEnd().split("\n");
    assert.equal(said.length, lines.length, err);
    lines.forEach((line, at) => assert.match(said[at] ?? "", line));
  });
}

Deno.test("mesh-iptables takes its flags from variables in Istio's spelling", async () => {
  const { code, err } = await run("pilot-agent", ["mesh-iptables"], { ISTIO_INBOUND_INTERCEPTION_MODE: "TPROXI" });
  assert.equal(code, 1);
  assert.match(
    err,
    /variable MESH_INBOUND_INTERCEPTION_MODE \(for --mesh-inbound-interception-mode\): got "TPROXI", expected one of REDIRECT, TPROXY; did you mean "TPROXY"\?/,
  );
});

Deno.test("request --debug-port takes only the ports of a workload", async () => {
  const { code, err } = await run("pilot-agent", ["request", "GET", "stats", "--debug-port", "8080"]);
  assert.equal(code, 1);
  assert.match(err, /--debug-port: got 8080, expected one of 15000, 15004, 15020, 15021/);
});

Deno.test("a tree that is not set up is reported in one line, and other defects are not taken for that", () => {
  const missing = new TypeError('Module not found "file:///x/proto/gen/descriptor.json".');
  assert.match(setUpError(missing)?.message ?? "", /run `deno task setup` once/);
  assert.equal(setUpError(new TypeError('Module not found "file:///x/lib/pb/codec.ts".')), undefined);
  assert.equal(setUpError(new Error("proto/gen/ not found")), undefined);
});
