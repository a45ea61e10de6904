/**
 * Headers of pages for people with a browser.
 *
 * @module
 */
import { createHash } from "node:crypto";

/**
 * The headers. The browser runs and loads nothing beyond `allowed`, and shows the page inside no other site's pages.
 *
 * @param allowed sources by directive of the Content-Security-Policy, such as `{"script-src": "'self'"}`; everything
 * else is forbidden
 */
export function pageHeaders(allowed: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const policy = {
    "default-src": "'none'",
    ...allowed,
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
  };
  return {
    "content-security-policy": Object.entries(policy).map(([name, sources]) => `${name} ${sources}`).join("; "),
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
  };
}

/** The source that allows an inline script or style, by its text. */
export function inlineSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
