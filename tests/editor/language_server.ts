/**
 * The stock language server for YAML, as editors run it: a process of Node, asked over its standard streams.
 *
 * The server is installed by npm from the lock file of `npm/`, once per machine and version, into `.cache`.
 *
 * Permissions: run (bash, node), read, env (CI).
 *
 * @module
 */
import assert from "node:assert/strict";
import { until } from "../patience.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Installs into a new folder, and renames it: two runs at once do not meet half an installation. */
const INSTALL = `set -e
cd "$1"
place="$2/.cache/editor-$(sha256sum package-lock.json | cut -c 1-12)"
if [ ! -d "$place" ]; then
  mkdir -p "$2/.cache"
  new=$(mktemp -d "$place.XXXXXX")
  cp package.json package-lock.json "$new"
  (cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error >&2)
  mv -T "$new" "$place" 2> /dev/null || rm -r "$new"
fi
echo "$place"`;

/** The installed server's program, or the reason why there is none. */
export const languageServer: { readonly program: string } | {
  readonly missing: string;
} = await (async () => {
  const folder = new URL("npm", import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", INSTALL, "bash", folder, root],
  })
    .output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  if (success) {
    return {
      program: `${text(stdout)}/node_modules/yaml-language-server/bin/yaml-language-server`,
    };
  }
  if (Deno.env.get("CI") !== undefined) {
    throw new Error(`the language server was not installed: ${text(stderr)}`);
  }
  return { missing: "npm could not install the language server" };
})();

/** A mark of the server below a text. */
export interface EditorMark {
  /** From 0. */
  readonly line: number;
  readonly message: string;
}

interface ServerMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Published {
  readonly uri: string;
  readonly diagnostics: readonly {
    readonly range: { readonly start: { readonly line: number } };
    readonly message: string;
  }[];
}

/** A running language server with a workspace. */
export class LanguageServer implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  readonly #answers = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #marks = new Map<string, EditorMark[]>();
  readonly #settings: Readonly<Record<string, unknown>>;
  #numbers = 0;
  #asksForSettings = false;
  #hasEnded = false;

  private constructor(
    program: string,
    settings: Readonly<Record<string, unknown>>,
  ) {
    this.#settings = settings;
    const args = [program, "--stdio"];
    this.#process = new Deno.Command("node", {
      args,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    this.#reading = this.#read();
  }

  /**
   * Starts the server.
   *
   * @param folder The workspace.
   * @param settings The editor's settings for `yaml`, such as `{ schemas: { "./mesh.json": ["*.yaml"] } }`.
   */
  static async start(
    program: string,
    folder: string,
    settings: Readonly<Record<string, unknown>> = {},
  ): Promise<LanguageServer> {
    const server = new LanguageServer(program, settings);
    const formats = { contentFormat: ["plaintext"] };
    await server.ask("initialize", {
      processId: Deno.pid,
      rootUri: `file://${folder}`,
      workspaceFolders: [{ uri: `file://${folder}`, name: "workspace" }],
      capabilities: {
        workspace: { configuration: true, workspaceFolders: true },
        textDocument: {
          completion: {},
          hover: formats,
          publishDiagnostics: {},
        },
      },
    });
    await server.#send({ method: "initialized", params: {} });
    // A file that is opened earlier may be judged without the settings.
    await until("the server's question for settings", () => server.#asksForSettings || server.#hasEnded);
    return server;
  }

  /** Opens a file, as an editor does, and waits for the server's judgement. */
  async open(path: string): Promise<EditorMark[]> {
    const uri = `file://${path}`;
    const text = await Deno.readTextFile(path);
    await this.#send({
      method: "textDocument/didOpen",
      params: { textDocument: { uri, languageId: "yaml", version: 1, text } },
    });
    await until(`a judgement of ${path}`, () => this.#marks.has(uri) || this.#hasEnded);
    assert.ok(!this.#hasEnded, "the language server has ended");
    return this.#marks.get(uri)!;
  }

  /** The names that the server offers at a position of an open file; lines and columns from 0. */
  async complete(
    path: string,
    line: number,
    character: number,
  ): Promise<string[]> {
    const answer = await this.#at("completion", path, line, character) as
      | { readonly items: readonly { readonly label: string }[] }
      | null;
    return answer?.items.map(({ label }) => label) ?? [];
  }

  /** The text that the server shows for a position of an open file. */
  async hover(path: string, line: number, character: number): Promise<string> {
    return JSON.stringify(await this.#at("hover", path, line, character));
  }

  #at(
    what: string,
    path: string,
    line: number,
    character: number,
  ): Promise<unknown> {
    return this.ask(`textDocument/${what}`, {
      textDocument: { uri: `file://${path}` },
      position: { line, character },
    });
  }

  /** Asks the server. @throws with the server's words */
  async ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#numbers;
    const answer = Promise.withResolvers<unknown>();
    this.#answers.set(id, answer);
    await this.#send({ id, method, params });
    const settled = answer.promise.then(() => true, () => true);
    await until(`an answer to ${method}`, () => Promise.race([settled, Promise.resolve(false)]));
    return await answer.promise;
  }

  async #send(message: object): Promise<void> {
    const bytes = new TextEncoder().encode(
      JSON.stringify({ jsonrpc: "2.0", ...message }),
    );
    await this.#input.write(
      new TextEncoder().encode(`Content-Length: ${bytes.length}\r\n\r\n`),
    );
    await this.#input.write(bytes);
  }

  async #read(): Promise<void> {
    let rest = new Uint8Array();
    for await (const part of this.#process.stdout) {
      rest = new Uint8Array([...rest, ...part]);
      for (
        let taken = messageOf(rest);
        taken !== undefined;
        taken = messageOf(rest)
      ) {
        rest = rest.slice(taken.length);
        await this.#received(taken.message);
      }
    }
    this.#hasEnded = true;
    for (const { reject } of this.#answers.values()) {
      reject(new Error("the language server has ended"));
    }
  }

  async #received(
    { id, method, params, result, error }: ServerMessage,
  ): Promise<void> {
    if (method === "textDocument/publishDiagnostics") {
      const { uri, diagnostics } = params as Published;
      this.#marks.set(
        uri,
        diagnostics.map(({ range, message }) => ({
          line: range.start.line,
          message,
        })),
      );
    } else if (method !== undefined && id !== undefined) {
      if (method === "workspace/configuration") this.#asksForSettings = true;
      const items = (params as
        | { readonly items?: readonly { readonly section: string }[] }
        | undefined)?.items ?? [];
      await this.#send({
        id,
        result: items.map(({ section }) => section === "yaml" ? this.#settings : null),
      });
    } else if (id !== undefined) {
      const answer = this.#answers.get(id);
      this.#answers.delete(id);
      if (error === undefined) answer?.resolve(result);
      else answer?.reject(new Error(error.message));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#reading;
    await this.#input.abort().catch(() => {});
  }
}

/** The first message of bytes, with its length. Undefined: the message is incomplete. */
function messageOf(
  bytes: Uint8Array,
): { readonly message: ServerMessage; readonly length: number } | undefined {
  const head = /^Content-Length: (\d+)\r\n(?:[^\r]+\r\n)*\r\n/i.exec(
    new TextDecoder("latin1").decode(bytes.subarray(0, 300)),
  );
  if (head === null) return undefined;
  const length = head[0].length + Number(head[1]);
  assert.ok(
    length < 10_000_000,
    "a message of the language server is too long",
  );
  if (bytes.length < length) return undefined;
  return {
    message: JSON.parse(
      new TextDecoder().decode(bytes.subarray(head[0].length, length)),
    ),
    length,
  };
}
