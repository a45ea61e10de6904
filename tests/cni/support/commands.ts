/** Runs commands, and names missing commands of a test. */

/** The outcome of a command. */
export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs a command to its end. */
export async function run(
  command: string,
  args: readonly string[],
  more: { env?: Record<string, string>; input?: string; clearEnv?: boolean } = {},
): Promise<Ran> {
  const child = new Deno.Command(command, {
    args: [...args],
    env: more.env ?? {},
    clearEnv: more.clearEnv ?? false,
    stdin: more.input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (more.input !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(more.input)).then(() => writer.close()).catch(() => {});
  }
  const output = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: output.code, out: text(output.stdout), err: text(output.stderr) };
}

/** Runs a command like {@linkcode run}, and throws when the command fails. */
export async function must(
  command: string,
  args: readonly string[],
  more: Parameters<typeof run>[2] = {},
): Promise<string> {
  const ran = await run(command, args, more);
  if (ran.code !== 0) throw new Error(`${command} ${args.join(" ")}: ${ran.code}: ${ran.err}${ran.out}`);
  return ran.out;
}

/** Folder of Debian's network plugins. */
export const PLUGINS = "/usr/lib/cni";

/** Why tests in network namespaces cannot run here; undefined: tests can run. */
export function obstacle(): string | undefined {
  if (Deno.uid() !== 0) return "not root";
  const files = {
    [`${PLUGINS}/bridge`]: "containernetworking-plugins",
    "/usr/bin/nsenter": "util-linux",
    "/usr/bin/python3": "python3",
    "/usr/sbin/iptables-nft": "iptables",
  };
  const missing = Object.entries(files).filter(([path]) => !isThere(path)).map(([, name]) => name);
  if (missing.length > 0) return `missing: ${missing.join(", ")}`;
  const made = new Deno.Command("unshare", { args: ["--net", "true"], stdout: "null", stderr: "null" }).outputSync();
  return made.success ? undefined : "no right to make network namespaces";
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A test in network namespaces; ignored where an {@linkcode obstacle} exists, with the reason in the name. */
export function namespaceTest(name: string, fn: () => Promise<void>): void {
  const why = obstacle();
  Deno.test({ name: why === undefined ? name : `${name} (ignored: ${why})`, ignore: why !== undefined, fn });
}

/** Makes a symbolic link by the command `ln`: the runtime would want rights to write everywhere. */
export function link(target: string, path: string): void {
  const { success, stderr } = new Deno.Command("ln", { args: ["-s", "--", target, path] }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
