/**
 * Loads the completion scripts into real shells and asks them. A missing shell is reported as ignored, but fails where
 * CI is set.
 */
import assert from "node:assert/strict";

const repository = new URL("../../", import.meta.url).pathname;

async function capture(command: string, args: string[], env: Record<string, string> = {}) {
  const output = await new Deno.Command(command, { args, env, stdin: "null", stdout: "piped", stderr: "piped" })
    .output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: output.code, out: text(output.stdout), err: text(output.stderr) };
}

async function installed(shell: string): Promise<boolean> {
  try {
    return (await capture(shell, ["--version"])).code === 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A folder for PATH with the checkout's program as `pilot-discovery`, and each shell's script. */
async function prepare(shell: string) {
  const folder = await Deno.makeTempDir();
  const program = `${folder}/pilot-discovery`;
  const main = `${repository}cmd/pilot-discovery/main.ts`;
  const run = `deno run --quiet --no-prompt --config ${repository}deno.json -P=pilot-discovery ${main}`;
  await Deno.writeTextFile(program, `#!/bin/sh\nexec ${run} "$@"\n`, { mode: 0o755 });
  const { out, code } = await capture(program, ["completion", shell]);
  assert.equal(code, 0);
  const script = `${folder}/script`;
  await Deno.writeTextFile(script, out);
  const env = { PATH: `${folder}:${Deno.env.get("PATH")}`, HOME: folder };
  await Deno.mkdir(`${folder}/some-folder`);
  await Deno.writeTextFile(`${folder}/some-file`, "");
  await Deno.mkdir(`${folder}/mesh`);
  for (const { name } of Deno.readDirSync(`${repository}examples/shop`)) {
    await Deno.copyFile(`${repository}examples/shop/${name}`, `${folder}/mesh/${name}`);
  }
  return { folder, script, env };
}

interface Shell {
  name: string;
  /** Asks the shell for the candidates of a line; the working folder is `folder`. */
  ask(line: string, folder: string, script: string, env: Record<string, string>): Promise<string[]>;
}

function lines(text: string): string[] {
  return text.split(/\r?\n/).map((l) => l.trimEnd()).filter((l) => l !== "");
}

const bash: Shell = {
  name: "bash",
  async ask(line, folder, script, env) {
    // COMP_WORDS as bash makes them: cut at blanks, = and :.
    const program = `cd "$2"; source "$1"; COMP_LINE="$3"; COMP_POINT=\${#COMP_LINE}; COMP_TYPE="\${4:-9}"
      spec="$(complete -p pilot-discovery)"; fn="\${spec#*-F }"; "\${fn%% *}" pilot-discovery "" ""
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { out, err } = await capture("bash", ["--norc", "-c", program, "bash", script, folder, line], env);
    assert.equal(err, "");
    return lines(out);
  },
};

const fish: Shell = {
  name: "fish",
  async ask(line, folder, script, env) {
    const { out, err } = await capture("fish", [
      "--no-config",
      "-c",
      `cd "$argv[2]"; source "$argv[1]"; complete -C "$argv[3]"`,
      script,
      folder,
      line,
    ], env);
    assert.equal(err, "");
    return lines(out);
  },
};

/**
 * zsh completes in the line editor only: a zsh runs in a pseudo terminal, and gets the tab key. Keys wait until the
 * editor announces reading: before, the terminal would act on the keys.
 */
const zshDriver = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; RPROMPT=; autoload -U compinit; compinit -u -d '$2/dump'; cd '$2'"
zpty -w shell "zstyle ':completion:*' list-separator '--'; zstyle ':completion:*' menu no; LISTMAX=1000; setopt list_rows_first"
zpty -w shell "source '$1'; bindkey '^I' list-choices; bindkey '^T' expand-or-complete; print -r -- LOADED\\\${:-}1"
zpty -w shell "zle-line-init() { print -rn -- EDITING\\\${:-}3 }; zle -N zle-line-init"
zpty -r shell reply '*LOADED1*EDITING3*'
zpty -w -n shell "$3"$'\\t'
zpty -w -n shell $'\\x14\\x15'"print -r -- END\\\${:-}2"$'\\n'
zpty -r shell reply '*END2*'
print -r -- "$reply"
zpty -d shell
`;

const zsh: Shell = {
  name: "zsh",
  async ask(line, folder, script, env) {
    const { out } = await capture("zsh", ["-f", "-c", zshDriver, "zsh", script, folder, line], {
      ...env,
      TERM: "dumb",
      COLUMNS: "200",
    });
    // deno-lint-ignore no-control-regex -- a terminal's control sequences
    return lines(out.replace(/\x1b\[[0-9;?]*[A-Za-z]|\x07|\x08/g, "")).flatMap((l) => l.split(/\s{2,}/));
  },
};

for (const shell of [bash, zsh, fish]) {
  const there = await installed(shell.name);
  const ci = Deno.env.get("CI") !== undefined;
  Deno.test({
    name: `${shell.name} completes commands, flags, values, lists and files` +
      (there ? "" : " (ignored: not installed)"),
    ignore: !there && !ci,
    async fn() {
      assert(there, `${shell.name} is not installed`);
      const { folder, script, env } = await prepare(shell.name);
      try {
        const ask = async (line: string) => (await shell.ask(line, folder, script, env)).join("\n");
        const commands = await ask("pilot-discovery ");
        for (const name of ["completion", "discovery", "request", "version", "help"]) {
          assert.match(commands, new RegExp(`(^|\\n)${name}\\b`), commands);
        }
        const flags = await ask("pilot-discovery discovery --keepalive");
        for (const name of ["Interval", "MaxServerConnectionAge", "Timeout"]) {
          assert.match(flags, new RegExp(`--keepalive${name}`));
        }
        assert.doesNotMatch(flags, /--grpcAddr/);
        const values = await ask("pilot-discovery version --output ");
        assert.match(values, /\byaml\b[\s\S]*\bjson\b|\bjson\b[\s\S]*\byaml\b/);
        assert.match(await ask("pilot-discovery version --output="), /\bjson\b/);
        const levels = await ask("pilot-discovery discovery --log_output_level ads:");
        for (const level of ["debug", "info", "warn", "error", "fatal", "none"]) {
          assert.match(levels, new RegExp(`\\b${level}\\b`));
        }
        const folders = await ask("pilot-discovery discovery --configDir some");
        assert.match(folders, /some-folder/);
        assert.doesNotMatch(folders, /some-file/);
        assert.match(await ask("pilot-discovery discovery --configDir=some"), /some-folder/, "behind =");
        assert.match(await ask("pilot-discovery discovery --meshConfig some-f"), /some-file/);
        // Names of workloads, of the folder that the line names.
        const workloads = await ask("pilot-discovery explain mesh --from shop/");
        for (const name of ["cart", "reviews-v1", "reviews-v2"]) assert.match(workloads, new RegExp(`shop/${name}\\b`));
        const pods = await ask("pilot-discovery describe pod --files mesh re");
        assert.match(pods, /\breviews-v1\.shop\b/);
        assert.doesNotMatch(pods, /cart/);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}

const bashThere = await installed("bash");
Deno.test({
  name: "bash gets only what stands behind its last word break" + (bashThere ? "" : " (ignored: not installed)"),
  ignore: !bashThere && Deno.env.get("CI") === undefined,
  async fn() {
    const { folder, script, env } = await prepare("bash");
    try {
      const ask = (line: string) => bash.ask(line, folder, script, env);
      assert.deepEqual(await ask("pilot-discovery version --output=j"), ["json"]);
      assert.deepEqual(await ask("pilot-discovery discovery --log_output_level ads:de"), ["debug"]);
      assert.deepEqual(await ask("pilot-discovery dis"), ["discovery"]);
      assert.deepEqual(await ask("pilot-discovery explain mesh --from=shop/c"), ["shop/cart"]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
