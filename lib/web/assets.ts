/**
 * The three files of the pages, served from memory.
 *
 * @module
 */
import type { Route } from "../http/route.ts";
import { SAFE_HEADERS } from "./layout.ts";
import { SCRIPT } from "./script.ts";
import { ICON, STYLE } from "./style.ts";

const FILES = [
  { name: "page.css", type: "text/css; charset=utf-8", body: STYLE },
  { name: "page.js", type: "text/javascript; charset=utf-8", body: SCRIPT },
  { name: "icon.svg", type: "image/svg+xml", body: ICON },
] as const;

/** The routes of the three files. */
export const ASSET_ROUTES: readonly Route[] = FILES.map(({ name, type, body }) => ({
  methods: ["GET"],
  path: `/debug/assets/${name}`,
  // Another version of the server has other files.
  handle: () => ({
    status: 200,
    headers: { ...SAFE_HEADERS, "content-type": type, "cache-control": "no-cache" },
    body,
  }),
}));
