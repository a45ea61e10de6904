/** `install-cni`: every flag reaches the installer or is on the list of idle flags, and a failed start says why. */
import assert from "node:assert/strict";
import { ambientOptions } from "../../cmd/install-cni/ambient.ts";
import { installCni } from "../../cmd/install-cni/commands.ts";
import type { InstallFlagValues } from "../../cmd/install-cni/flags.ts";
import { installOptions } from "../../cmd/install-cni/options.ts";
import { desiredStateOptions } from "../../cmd/install-cni/start.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { logFlags, vklogFlag } from "../../lib/cli/log_flags.ts";
import { flagsOf } from "../../lib/cli/locate.ts";
import { DEFAULT_SELECTORS } from "../../lib/cni/enrolment/decide.ts";
import { notBuilt } from "../../lib/kernel/not_built/catalogue.ts";
import { readSettings } from "../../lib/kernel/settings/read.ts";
import { namesFound } from "../surface/source_scan.ts";

const repository = new URL("../../", import.meta.url).pathname;

/** Options used by the program after the check of the command line. */
const readers = ["start.ts", "ambient.ts"].map((name) => Deno.readTextFileSync(`${repository}cmd/install-cni/${name}`));
const used = namesFound(readers.join("\n"), /\boptions\.(\w+)/g);
const logging = new Set(Object.keys({ ...logFlags("install-cni"), ...vklogFlag }));
const flags = flagsOf({ command: installCni, line: [] });

/** Options at the defaults, with one flag changed. */
function options(change: Record<string, unknown> = {}) {
  const values = Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, flag.default]));
  const given = new Set(Object.keys(change));
  return installOptions({ ...values, ...change } as InstallFlagValues, given, readSettings("install-cni", {}));
}

/** Values of flags beside switches, numbers and free texts. */
const others: Record<string, unknown> = {
  "chained-cni-plugin": false,
  "repair-enabled": false,
  "cni-conf-name": "10-a.conf",
  "log-level": "debug",
  "cni-agent-run-dir": "/other",
  "ztunnel-uds-address": "/other",
};

const isIdle = (name: string) => notBuilt("flag", `install-cni --${name}`) !== undefined;

for (const [name, { default: value }] of Object.entries(flags).filter(([name]) => !logging.has(name))) {
  Deno.test(`--${name} ${isIdle(name) ? "is idle, as the list says" : "reaches the installer"}`, () => {
    const other = others[name] ?? (typeof value === "boolean" ? !value : typeof value === "number" ? 77 : "other");
    const [before, after] = [options(), options({ [name]: other })];
    const moved = Object.keys(before).filter((key) =>
      JSON.stringify(before[key as keyof typeof before]) !== JSON.stringify(after[key as keyof typeof after])
    );
    assert.equal(moved.length, 1, moved.join());
    assert.equal(used.has(moved[0] ?? ""), !isIdle(name));
  });
}

Deno.test("the namespace of the node agent is its pod's namespace: given, found beside its token, or the mesh's namespace", async () => {
  const folder = await Deno.makeTempDir({ prefix: "mcni-" });
  try {
    const namespace = (env: Record<string, string>) => {
      const settings = readSettings("install-cni", {
        KUBERNETES_SERVICE_HOST: "10.0.0.1",
        MESH_CNI_SERVICE_ACCOUNT_DIR: folder,
        ...env,
      });
      return desiredStateOptions(options(), settings).podNamespace;
    };
    assert.equal(namespace({}), "mesh-system");
    await Deno.writeTextFile(`${folder}/namespace`, "kube-system");
    assert.equal(namespace({}), "kube-system");
    assert.equal(namespace({ POD_NAMESPACE: "mine" }), "mine");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Runs the installer to its end, in a temporary folder. */
async function refused(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  for (const name of ["net", "bin", "run", "sa"]) await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "-P=install-cni", `${repository}cmd/install-cni/main.ts`, ...args],
    cwd: repository,
    env: {
      KUBERNETES_SERVICE_HOST: "127.0.0.1",
      MESH_CNI_BIN_DIR: `${folder}/bin`,
      MESH_CNI_HEALTH_PORT: "0",
      MONITORING_PORT: "0",
      MESH_CNI_SERVICE_ACCOUNT_DIR: `${folder}/sa`,
      MOUNTED_CNI_NET_DIR: `${folder}/net`,
      CNI_AGENT_RUN_DIR: `${folder}/run`,
      ...env,
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return { code, lines: new TextDecoder().decode(stderr).trimEnd().split("\n") };
}

Deno.test("ports in use and an unusable run folder are reported together, each in one line without a stack", async () => {
  const folder = await Deno.makeTempDir({ prefix: "mcni-" });
  const taken = Deno.listen({ hostname: "::", port: 0 });
  try {
    await Deno.writeTextFile(`${folder}/file`, "");
    const { code, lines } = await refused(folder, [
      `--cni-agent-run-dir=${folder}/file`,
      `--ctrlz_port=${taken.addr.port}`,
    ], {
      MESH_CNI_HEALTH_PORT: String(taken.addr.port),
      MONITORING_PORT: String(taken.addr.port),
    });
    assert.equal(code, 1);
    assert.equal(lines.length, 4, lines.join("\n"));
    assert.match(
      lines[0] ?? "",
      /^Error: flag --monitoring-port: got \d+, expected a port that is free \(listen EADDRINUSE/,
    );
    assert.match(lines[1] ?? "", /^flag --cni-agent-run-dir: got ".*\/file", expected a folder that this program may/);
    assert.match(lines[2] ?? "", /^variable MESH_CNI_HEALTH_PORT: got \d+, expected a port that is free/);
    assert.match(lines[3] ?? "", /^flag --ctrlz_port: got "127\.0\.0\.1:\d+", expected an address that is free/);
  } finally {
    taken.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a run folder outside of the writable folders is refused with the reason", async () => {
  const folder = await Deno.makeTempDir({ prefix: "mcni-" });
  try {
    const { code, lines } = await refused(folder, ["--cni-agent-run-dir=/var/lib/other"]);
    assert.deepEqual([code, lines.length], [1, 1], lines.join("\n"));
    assert.match(lines[0] ?? "", /--cni-agent-run-dir: got "\/var\/lib\/other", expected .* \(Requires write access/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a template with a value that would fail every pod is refused at the start", async () => {
  const folder = await Deno.makeTempDir({ prefix: "mcni-" });
  try {
    for (
      const [template, said] of [
        [`{"plugin_log_level":7}`, /plugin_log_level: got 7, expected a log level$/],
        [`{"log_level":"loud"}`, /plugin_log_level: got "loud", expected one of debug, info/],
        [`{"exclude_namespaces":"a"}`, /exclude_namespaces: got "a", expected an array of texts$/],
        [`{"type":"other"}`, /type is the installer's to say$/],
        ["{", /expected a JSON object \(/],
      ] as const
    ) {
      const { code, lines } = await refused(folder, ["--cni-network-config", template]);
      assert.deepEqual([code, lines.length], [1, 1], lines.join("\n"));
      assert.match(lines[0] ?? "", said);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("wrong options of the ambient node agent are refused by name, and its rules come from the settings", () => {
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", NODE_NAME: "n" };
  const of = (more: Record<string, string>, flag = true) => {
    const settings = readSettings("install-cni", { ...env, ...more });
    const all = options({ "ambient-enabled": flag });
    return { ambient: ambientOptions(all, settings), desired: desiredStateOptions(all, settings) };
  };
  assert.equal(of({}, false).ambient, undefined);
  const { ambient, desired } = of({ EXCLUDE_NAMESPACES: "a,b", AMBIENT_IPV6: "false", AMBIENT_DNS_CAPTURE: "false" });
  assert.deepEqual([ambient?.rules.ipv6, ambient?.rules.capturesDns, ambient?.rules.excludeNamespaces], [
    false,
    false,
    ["a", "b"],
  ]);
  assert.deepEqual([ambient?.rules.selectors, desired.ambientSelectors], [DEFAULT_SELECTORS, undefined]);
  assert.equal(desired.leavesForGood, false);
  assert.equal(of({ AMBIENT_DISABLE_SAFE_UPGRADE: "true" }).desired.leavesForGood, true);
  const chosen = of({ AMBIENT_ENABLEMENT_SELECTOR: "[{ podSelector: { matchLabels: { a: b } } }]" });
  assert.deepEqual(chosen.ambient?.rules.selectors, [{ podSelector: { matchLabels: { a: "b" } } }]);
  assert.deepEqual(chosen.desired.ambientSelectors, chosen.ambient?.rules.selectors);
  const refused: [Record<string, string>, RegExp][] = [
    [{ HOST_PROBE_SNAT_IP: "fd00::1" }, /HOST_PROBE_SNAT_IP: got "fd00::1", expected an IPv4 address/],
    [{ HOST_PROBE_SNAT_IPV6: "fd00::/8" }, /HOST_PROBE_SNAT_IPV6: got "fd00::\/8", expected an IPv6 address/],
    [{ NODE_NAME: "" }, /NODE_NAME: got "", expected the node's name/],
    [{ AMBIENT_ENABLEMENT_SELECTOR: "a: 1" }, /AMBIENT_ENABLEMENT_SELECTOR: the list: got/],
  ];
  for (const [more, message] of refused) {
    assert.throws(() => of(more), (error) => error instanceof UsageError && message.test(error.message));
  }
});
