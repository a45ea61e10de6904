/**
 * A headless Chromium, driven over its DevTools protocol: loading of pages, texts, and complaints.
 *
 * Permissions: run (chromium), net (loopback), read and write (a temporary folder).
 * @module
 */
import assert from "node:assert/strict";
import { PATIENCE } from "../../patience.ts";

/** Why a browser is missing; undefined: a browser is there. */
export const noBrowser: string | undefined = await (async () => {
  try {
    const { success } = await new Deno.Command("chromium", { args: ["--version"], stdout: "null", stderr: "null" })
      .output();
    return success ? undefined : "chromium does not start";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "no chromium is installed";
    throw error;
  }
})();

/** An event or answer of the protocol. */
interface DevToolsMessage {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

interface FrameTree {
  readonly frame: { readonly loaderId: string };
}

/** A running browser. */
export class Browser implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #folder: string;
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, PromiseWithResolvers<Readonly<Record<string, unknown>>>>();
  readonly #listeners = new Map<string, (message: DevToolsMessage) => void>();
  readonly #drained: Promise<unknown>;
  #numbers = 0;

  private constructor(process: Deno.ChildProcess, folder: string, socket: WebSocket, drained: Promise<unknown>) {
    this.#process = process;
    this.#folder = folder;
    this.#socket = socket;
    this.#drained = drained;
    socket.onmessage = ({ data }) => this.#received(JSON.parse(String(data)));
  }

  /** Starts a browser without traces of other runs and without requests beyond its pages. */
  static async start(): Promise<Browser> {
    const folder = await Deno.makeTempDir({ prefix: "chromium-" });
    const process = new Deno.Command("chromium", {
      args: [
        // The sandbox needs rights missing in containers of root.
        ...["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
        ...["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"],
        ...["--remote-debugging-port=0", `--user-data-dir=${folder}`, "about:blank"],
      ],
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const listening = Promise.withResolvers<string>();
    const drained = readLog(process.stderr, listening);
    const socket = new WebSocket(await within(listening.promise, "the browser"));
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    return new Browser(process, folder, socket, drained);
  }

  /** Opens a tab. */
  async tab(): Promise<Tab> {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, String(sessionId));
    this.#listeners.set(String(sessionId), (message) => tab.received(message));
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await tab.send(`${domain}.enable`);
    await tab.begin();
    return tab;
  }

  /** Sends a command. @throws with the browser's words */
  async send(method: string, params: object = {}, sessionId?: string): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#numbers;
    const answer = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    this.#answers.set(id, answer);
    this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    return await within(answer.promise, method);
  }

  #received(message: DevToolsMessage): void {
    const { id, sessionId, result, error } = message;
    if (id === undefined) return void this.#listeners.get(sessionId ?? "")?.(message);
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    if (error !== undefined) answer?.reject(new Error(error.message));
    else answer?.resolve(result ?? {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.onclose = resolve);
    await this.send("Browser.close");
    await closed;
    await this.#process.status;
    await this.#drained;
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** Reads a browser's output until its end; one of the first lines has the address of its DevTools. */
async function readLog(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  listening: PromiseWithResolvers<string>,
): Promise<void> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    const address = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
    if (address !== undefined) listening.resolve(address);
  }
  listening.reject(new Error(`chromium ended: ${text}`));
}

/** A tab, and its events. */
export class Tab {
  /** Messages of the console, violations of the content security policy, and failed requests. */
  readonly complaints: string[] = [];
  /** Requested addresses. */
  readonly requests: string[] = [];
  readonly #browser: Browser;
  readonly #session: string;
  /** The document of the tab, by the browser's id. */
  #document = "";
  /** The document that the tab leaves. Its load may be reported late. */
  #left = "";
  #loaded = Promise.withResolvers<void>();

  constructor(browser: Browser, session: string) {
    this.#browser = browser;
    this.#session = session;
  }

  /** Sends a command to the tab. */
  send(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#browser.send(method, params, this.#session);
  }

  /** Learns of the present document, and has the browser report the loads of documents. */
  async begin(): Promise<void> {
    const { frameTree } = await this.send("Page.getFrameTree");
    this.#document = (frameTree as FrameTree).frame.loaderId;
    await this.send("Page.setLifecycleEventsEnabled", { enabled: true });
  }

  /** Opens an address, and waits until its page is loaded. */
  async open(url: string): Promise<void> {
    await this.loading(async () => {
      const { errorText } = await this.send("Page.navigate", { url });
      assert.equal(errorText, undefined, `${url}: ${errorText}`);
    });
  }

  /** Runs an action that loads another page, and waits for the page. */
  async loading(act: () => Promise<unknown>): Promise<void> {
    this.#left = this.#document;
    this.#loaded = Promise.withResolvers();
    await act();
    await within(this.#loaded.promise, "the page");
  }

  /** The value of an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    assert.equal(exceptionDetails, undefined, `${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { readonly value?: unknown }).value;
  }

  /** The visible text of an element. */
  async text(selector = "main"): Promise<string> {
    return String(await this.evaluate(visibleText(selector)));
  }

  /** Waits until the text of an element matches; the page announces its changes. */
  async shows(pattern: RegExp, selector = "main"): Promise<void> {
    const found = await this.evaluate(`new Promise((resolve) => {
      const pattern = ${pattern};
      const text = () => ${visibleText(selector)};
      const look = () => pattern.test(text()) && (observer.disconnect(), resolve(true));
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      setTimeout(() => resolve(text()), ${PATIENCE - 5000});
      look();
    })`);
    assert.equal(found, true, `expected ${pattern} in ${found}`);
  }

  /** Presses a key. */
  async press(key: string): Promise<void> {
    for (const type of ["keyDown", "keyUp"]) {
      const text = key.length === 1 && type === "keyDown"
        ? { text: key }
        : key === "Enter" && type === "keyDown"
        ? { text: "\r" }
        : {};
      await this.send("Input.dispatchKeyEvent", { type, key, ...text });
    }
  }

  /** A picture of the whole page, as PNG. */
  async picture(): Promise<Uint8Array> {
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true });
    return Uint8Array.fromBase64(String(data));
  }

  /** Takes an event of the protocol in. */
  received({ method, params = {} }: DevToolsMessage): void {
    switch (method) {
      case "Page.lifecycleEvent":
        if (params.name !== "load" || params.loaderId === this.#left) return;
        this.#document = String(params.loaderId);
        return this.#loaded.resolve();
      case "Network.requestWillBeSent":
        return void this.requests.push(String((params.request as { readonly url: string }).url));
      case "Runtime.exceptionThrown":
      case "Log.entryAdded":
      case "Network.loadingFailed":
        // A stream of events ends with its page.
        if (params.canceled !== true) this.complaints.push(`${method} ${JSON.stringify(params)}`);
        return;
      case "Runtime.consoleAPICalled":
        return void this.complaints.push(`console.${params.type} ${JSON.stringify(params.args)}`);
    }
  }
}

/** The expression of an element's visible text. `innerText` alone has the text of an element that is hidden itself, too. */
function visibleText(selector: string): string {
  return `((one) => one?.checkVisibility() ? one.innerText : "")(document.querySelector(${JSON.stringify(selector)}))`;
}

async function within<T>(work: Promise<T>, what: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what}: not within ${PATIENCE / 1000} s`)), PATIENCE);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
