/**
 * A network namespace with its own `resolv.conf` and our server, for questions by the resolvers of real programs.
 *
 * Permissions: run, read, write (/etc/netns, a temporary folder), sys (uid).
 * @module
 */

const here = (path: string) => new URL(path, import.meta.url).pathname;

/** Files of the test data. */
export const data = {
  table: here("../../testdata/dns/names.json"),
  c: here("../../testdata/dns/resolve.c"),
  python: here("../../testdata/dns/resolve.py"),
};

/**
 * Runs a command. @returns its output
 *
 * @throws {Error} with the output of a failed command
 */
export async function sh(command: string, args: readonly string[], input = ""): Promise<string> {
  const child = new Deno.Command(command, { args: [...args], stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input)).catch(() => {});
  await writer.close().catch(() => {});
  const { success, stdout, stderr } = await child.output();
  const text = new TextDecoder();
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${text.decode(stderr)}${text.decode(stdout)}`);
  return text.decode(stdout);
}

/** Missing commands, or the missing rights of root; undefined: nothing is missing. */
export function missing(commands: readonly string[]): string | undefined {
  if (Deno.uid() !== 0) return "not root, so no network namespace can be made";
  const paths = (Deno.env.get("PATH") ?? "").split(":");
  const absent = commands.filter((command) => !paths.some((path) => exists(`${path}/${command}`)));
  return absent.length === 0 ? undefined : `missing ${absent.join(", ")}: \`deno task setup\` installs them`;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** How the server in a namespace is set up. */
export interface NamespaceOptions {
  /** DNS_PROXY_ADDR. */
  readonly address: string;
  /** The resolv.conf of programs in the namespace. */
  readonly resolvConf: string;
  /** The resolv.conf that a server on port 53 reads instead. */
  readonly behind: string;
  readonly zone: Readonly<Record<string, readonly string[] | string>>;
}

/** A namespace with a running server. */
export class Namespace implements AsyncDisposable {
  readonly name = `mesh-dns-${crypto.randomUUID().slice(0, 8)}`;
  #server: Deno.ChildProcess | undefined;
  #folder = "";

  /** Makes a namespace; the name server behind is on 127.0.0.2. */
  static async make(
    options: NamespaceOptions,
    before: (name: string) => Promise<void> = async () => {},
  ): Promise<Namespace> {
    const made = new Namespace();
    try {
      await made.#make(options, before);
      return made;
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #make(options: NamespaceOptions, before: (name: string) => Promise<void>): Promise<void> {
    this.#folder = await Deno.makeTempDir();
    await sh("ip", ["netns", "add", this.name]);
    await sh("ip", ["-n", this.name, "link", "set", "lo", "up"]);
    // Addresses like a pod's: glibc finds names of a family only on a machine with an address of the family.
    await sh("ip", ["-n", this.name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1"]);
    await sh("ip", ["-n", this.name, "address", "add", "10.77.0.2/24", "dev", "eth0"]);
    await sh("ip", ["-n", this.name, "address", "add", "fd77::2/64", "dev", "eth0", "nodad"]);
    for (const link of ["eth0", "eth1"]) await sh("ip", ["-n", this.name, "link", "set", link, "up"]);
    // `ip netns exec` puts these files in the place of /etc/resolv.conf and /etc/nsswitch.conf.
    await Deno.mkdir(`/etc/netns/${this.name}`, { recursive: true });
    await Deno.writeTextFile(`/etc/netns/${this.name}/resolv.conf`, options.resolvConf);
    await Deno.writeTextFile(`/etc/netns/${this.name}/nsswitch.conf`, "hosts: files dns\n");
    await before(this.name);
    const behind = `${this.#folder}/resolv.conf`;
    await Deno.writeTextFile(behind, options.behind);
    const args = [options.address, "/etc/resolv.conf", behind, data.table, "127.0.0.2", JSON.stringify(options.zone)];
    const permissions = ["--allow-net", "--allow-read", "--config", here("../../../deno.json")];
    this.#server = new Deno.Command("ip", {
      args: [
        "netns",
        "exec",
        this.name,
        Deno.execPath(),
        "run",
        "--quiet",
        "--no-prompt",
        ...permissions,
        here("serve.ts"),
        ...args,
      ],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = this.#server.stdout.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    if (value === undefined) throw new Error("the server did not start");
  }

  /** Runs a command in the namespace. */
  run(command: string, args: readonly string[], input = ""): Promise<string> {
    return sh("ip", ["netns", "exec", this.name, command, ...args], input);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server?.kill("SIGKILL");
    await this.#server?.status;
    await sh("ip", ["netns", "del", this.name]).catch(() => {});
    await Deno.remove(`/etc/netns/${this.name}`, { recursive: true }).catch(() => {});
    if (this.#folder !== "") await Deno.remove(this.#folder, { recursive: true });
  }
}
