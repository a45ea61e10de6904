/**
 * Tests with one API server for each file, and a namespace for each test.
 *
 * Permissions: those of `./api_server.ts`.
 * @module
 */
import { type ApiServer, type ApiServerOptions, startApiServer } from "./api_server.ts";
import { noApiServer } from "./programs.ts";

/** The argument of a test. */
export interface ApiServerTest {
  readonly server: ApiServer;
  /** A namespace used by no other test. */
  readonly namespace: string;
}

/** Registers a test. */
export type DefineApiServerTest = (name: string, run: (test: ApiServerTest) => Promise<void>) => void;

/** Starts a server before the tests of the calling file and stops the server afterwards. Call once a file. */
export function apiServerTests(options: ApiServerOptions = {}): DefineApiServerTest {
  let server: ApiServer | undefined;
  const ignore = noApiServer !== undefined;
  if (!ignore) {
    Deno.test.beforeAll(async () => void (server = await startApiServer(options)));
    Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());
  }
  return (name, run) => {
    Deno.test({
      name: ignore ? `${name} (ignored: ${noApiServer})` : name,
      ignore,
      fn: async () => await run({ server: server!, namespace: await server!.namespace() }),
    });
  };
}
