import assert from "node:assert/strict";
import { authorityFindings } from "../../lib/discovery/identity/authority_findings.ts";

Deno.test("the pages say that the authority's certificate is not valid now, and are silent about a valid or missing certificate", () => {
  const message = "the authority has no certificate that is valid now";
  const [finding, ...more] = authorityFindings({ fault: () => message });
  assert.deepEqual([finding?.code, finding?.severity, finding?.message, more], ["MSH0200", "error", message, []]);
  assert.deepEqual(authorityFindings({ fault: () => undefined }), []);
  assert.deepEqual(authorityFindings(undefined), []);
});
