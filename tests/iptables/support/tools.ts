/**
 * The needs of tests with real packets, and the sentence about a missing need.
 *
 * Permissions: run, read, sys (uid), env (CI).
 * @module
 */

/**
 * Runs a command. @returns its output
 *
 * @throws {Error} when the command fails
 */
export async function sh(command: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  })
    .output();
  const text = new TextDecoder().decode(stdout);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${code}: ${new TextDecoder().decode(stderr)}${text}`);
  return text;
}

const needed: readonly (readonly [tool: string, debianPackage: string])[] = [
  ["ip", "iproute2"],
  ["iptables-nft", "iptables"],
  ["iptables-legacy", "iptables"],
  ["nft", "nftables"],
  ["nsenter", "util-linux"],
  ["setpriv", "util-linux"],
  ["/usr/bin/python3", "python3"],
  ["conntrack", "conntrack"],
];

/** A missing need of the machine. */
interface Lack {
  readonly reason: string;
  /** The missing part can be installed: where CI is set, its absence is a failure. */
  readonly installable: boolean;
}

const kinds = ["nft", "legacy"] as const;

async function look(): Promise<{ all?: Lack; backends: Map<string, Lack> }> {
  const backends = new Map<string, Lack>();
  const lack = (reason: string, installable = false) => ({ all: { reason, installable }, backends });
  if (Deno.build.os !== "linux") return lack("network namespaces exist on Linux only");
  if (Deno.uid() !== 0) return lack("not root: network namespaces cannot be made");
  const absent: string[] = [];
  for (const [tool, debianPackage] of needed) {
    try {
      await new Deno.Command(tool, { args: ["--version"], stdin: "null", stdout: "null", stderr: "null" }).output();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      absent.push(`${tool} (Debian package ${debianPackage})`);
    }
  }
  if (absent.length > 0) return lack(`not installed: ${absent.join(", ")}`, true);
  const name = `mesh-try-${crypto.randomUUID().slice(0, 8)}`;
  try {
    await sh("ip", "netns", "add", name);
  } catch (error) {
    return lack(`network namespaces cannot be made here: ${(error as Error).message}`);
  }
  try {
    for (const kind of kinds) {
      try {
        await sh(
          "ip",
          "netns",
          "exec",
          name,
          `iptables-${kind}`,
          "-t",
          "nat",
          "-A",
          "OUTPUT",
          "-p",
          "255",
          "-j",
          "RETURN",
        );
      } catch (error) {
        const reason = `this kernel cannot do the ${kind} back end: ${(error as Error).message.trim()}`;
        backends.set(kind, { reason, installable: false });
      }
    }
  } finally {
    await sh("ip", "netns", "del", name);
  }
  return { backends };
}

const found = await look();

/**
 * A test with real packets. On an unable machine the test is ignored, with the reason in its name. Where CI is set, a
 * missing but installable part is a failure.
 */
export function packetTest(
  name: string,
  work: (t: Deno.TestContext) => Promise<void>,
  backends: readonly (typeof kinds)[number][] = kinds,
): void {
  const lack = found.all ?? backends.map((kind) => found.backends.get(kind)).find((each) => each !== undefined);
  Deno.test({
    name: lack === undefined ? name : `${name} [${lack.reason}]`,
    ignore: lack !== undefined && !(lack.installable && Deno.env.get("CI") !== undefined),
    fn: async (t) => {
      if (lack !== undefined) throw new Error(lack.reason);
      await work(t);
    },
  });
}
