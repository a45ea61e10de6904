/**
 * Tests with one API server for all of a file, and a namespace for each.
 *
 * Permissions: those of `./api_server.ts`.
 *
 * @module
 */
import { type ApiServer, type ApiServerOptions, startApiServer } from "./api_server.ts";
import { noApiServer } from "./programs.ts";

/** What a test gets. */
export interface ApiServerTest {
  readonly server: ApiServer;
  /** A namespace that no other test has. */
  readonly namespace: string;
}

/** Registers a test. */
export type DefineApiServerTest = (name: string, run: (test: ApiServerTest) => Promise<void>) => void;

/** Starts a server before the tests of the calling file and stops it after them; call it once. */
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
